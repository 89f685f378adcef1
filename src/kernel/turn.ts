/** Long work on the event loop, in slices. */

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
