/** The process's log on standard error: text on a terminal, JSON lines elsewhere. */
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config/config.ts';
import type { OnEntry } from './observe/entry.ts';
import { toText, type TextOptions } from './observe/text.ts';

const STDERR = 2;

export interface LoggerOptions extends TextOptions {
  readonly isTerminal: boolean;
}

export function createLogger({ level, json }: Config['log'], options: LoggerOptions): Logger {
  const isJson = json ?? !options.isTerminal;
  return pino(
    { level },
    isJson
      ? // Written at once, as by default; unlike the default destination, `flush` reports when all is written.
        pino.destination({ dest: STDERR, minLength: 1 })
      : pretty({
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
