/** The process's own log: JSON lines, or plain ones for people, on standard error. */
import { writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';
import type { Config } from './config/config.ts';

const STDERR = 2;

export function createLogger({ level, json }: Config['log']): Logger {
  return pino(
    { level },
    // From the first character on, as by default; but whoever asks then hears when all is written.
    json
      ? pino.destination({ dest: STDERR, minLength: 1 })
      : { write: (line) => writeSync(STDERR, toText(line)) },
  );
}

/** `2026-11-20T23:49:50.868Z WARN what happened {"more":1}`, and the stack of an error below it. */
function toText(line: string): string {
  const { level, time, msg, pid, hostname, err, ...rest } = JSON.parse(line) as {
    level: number;
    time: number;
    msg?: string;
    pid: unknown;
    hostname: unknown;
    err?: { stack?: string; message?: string };
  };
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase();
  const more = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  const stack = err === undefined ? '' : `\n${err.stack ?? err.message ?? ''}`;
  return `${new Date(time).toISOString()} ${label} ${msg ?? ''}${more}${stack}\n`;
}
