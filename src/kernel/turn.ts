/** Long work on the event loop, in slices. */
import { breathe } from './breathe.ts';
import { openGate } from './gate.ts';

/** Shorter than what anybody notices, longer than what a pause costs. */
const SLICE_MS = 8;

/** The returned function is awaited between two steps: it lets everybody else have a turn once the slice is used up. */
export function startTurn(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < SLICE_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    began = performance.now();
  };
}

/**
 * For many at once: each awaits its turn before its part, in the order in which they asked, one in each turn of the event
 * loop. Not as many as a slice has room for: what Node writes for a reply it writes after everything that was awaited.
 */
export function shareTurns(): () => Promise<void> {
  const gate = openGate(1);
  return () => gate.enter(breathe);
}
