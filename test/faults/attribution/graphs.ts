/** A run that does its steps. */
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
