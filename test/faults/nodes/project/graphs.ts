import { setTimeout as pause } from 'node:timers/promises';

interface Config {
  readonly configurable: { readonly tag?: string; readonly count?: number; readonly pauseMs?: number };
  readonly signal: AbortSignal;
}

/** Yields `count` messages that nobody else says, `pauseMs` apart. */
export async function* paced(_state: unknown, { configurable, signal }: Config) {
  const { tag = '', count = 1, pauseMs = 0 } = configurable;
  for (let i = 1; i <= count; i++) {
    await pause(pauseMs, undefined, { signal });
    yield { messages: [{ role: 'assistant', content: `${tag} ${i}` }] };
  }
}

/** The clock of the machine, as graph code sees it. */
export const clock = (_state: unknown, _config: Config) => ({ now: Date.now() });
