/** Splits long work on the event loop into slices. */
import { breathe } from './breathe.ts';
import { openGate } from './gate.ts';

/** Too short for clients to notice, long compared with the cost of a pause. */
const SLICE_MS = 8;

/** The real clock, also within a run whose clock is recorded. */
const readMs = performance.now.bind(performance);

/** Returns a function to await between steps: it yields to the event loop once the slice is used up. */
export function startTurn(): () => Promise<void> {
  let began = readMs();
  return async () => {
    if (readMs() - began < SLICE_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    began = readMs();
  };
}

/**
 * Shared by concurrent tasks, which await the function before each part. They continue in order, one per turn of the
 * event loop: Node writes a reply only after all awaited work of the turn.
 */
export function shareTurns(): () => Promise<void> {
  const gate = openGate(1);
  return () => gate.enter(breathe);
}
