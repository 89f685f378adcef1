/** A run that does its steps, and one that kills the server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';

interface Config {
  configurable: Record<string, unknown>;
}

export async function* works(_state: unknown, { configurable }: Config) {
  for (let step = 1; step <= Number(configurable['steps']); step++) {
    await later(Number(configurable['stepMs']));
    yield { done: step };
  }
}

/** The server's process has noted itself in its data directory. */
export async function kills(_state: unknown, { configurable }: Config) {
  const note = readFileSync(join(String(configurable['data']), 'lock.db-owner'), 'latin1');
  process.kill(Number.parseInt(note, 10), 'SIGKILL');
  await new Promise(() => undefined);
}
