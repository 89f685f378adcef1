import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

interface Config {
  readonly configurable: Record<string, unknown>;
  readonly signal: AbortSignal;
}

/** Saves a checkpoint every so many milliseconds; when its signal fires it notes the time in the file `heard`. */
export async function* saver(state: { everyMs: number }, { configurable, signal }: Config) {
  signal.addEventListener('abort', () => appendFileSync(String(configurable['heard']), `${Date.now()}\n`));
  const began = performance.now();
  for (let saved = 1; !signal.aborted; saved++) {
    yield { saved };
    await pause(Math.max(0, began + saved * state.everyMs - performance.now()));
  }
}
