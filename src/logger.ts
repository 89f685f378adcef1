/** The process's log on standard error: text on a terminal, JSON lines elsewhere. */
import type { Logger } from 'pino';
import type { Config } from './config/config.ts';
import type { OnEntry } from './observe/entry.ts';
import { toText, type TextOptions } from './observe/text.ts';

const STDERR = 2;

export interface LoggerOptions extends TextOptions {
  readonly isTerminal: boolean;
}

export async function createLogger({ level, json }: Config['log'], options: LoggerOptions): Promise<Logger> {
  // Imported dynamically: the first graph worker starts before.
  const { default: pino } = await import('pino');
  const isJson = json ?? !options.isTerminal;
  // Written at once, as by default; unlike the default destination, `flush` reports when all is written.
  if (isJson) return pino({ level }, pino.destination({ dest: STDERR, minLength: 1 }));
  const { default: pretty } = await import('pino-pretty');
  return pino(
    { level },
    pretty({
      destination: STDERR,
      sync: true,
      colorize: options.isTerminal,
      translateTime: 'SYS:HH:MM:ss.l',
      ignore: 'pid,hostname',
      hideObject: true,
      messageFormat: ({ level: _, time, pid, hostname, msg, ...members }) =>
        toText(String(msg ?? ''), members, options),
    }),
  );
}

export const entriesTo =
  (logger: Logger): OnEntry =>
  ({ level, message, members }) =>
    logger[level](members, message);
