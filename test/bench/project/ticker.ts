import { setTimeout as pause } from 'node:timers/promises';

/** Writes frames at a steady pace; each says when it was made. */
export async function ticker(
  state: { frames: number; everyMs: number },
  config: { writer(chunk: unknown): void },
): Promise<object> {
  // Not all at the same moment.
  await pause(Math.random() * state.everyMs);
  const began = performance.now();
  for (let i = 1; i <= state.frames; i++) {
    config.writer({ madeAt: Date.now(), text: 'some words of an answer' });
    await pause(Math.max(0, began + i * state.everyMs - performance.now()));
  }
  return {};
}
