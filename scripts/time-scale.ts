/** How much longer than usual this machine takes now, with all else that it does: tests scale their time limits by it. */

const SPINS = 20_000_000;
/** Processor time of the spins on a usual machine that is otherwise idle. */
const USUAL_MS = 30;
/** Name of the environment variable that passes the factor to test processes. */
export const TIME_SCALE = 'TEST_TIME_SCALE';

/** Blocks for about 60 ms on a usual machine. Returns at least 1. */
export function measureTimeScale(): number {
  spin(); // The first round is compiled as it runs.
  const began = performance.now();
  spin();
  return Math.max(1, (performance.now() - began) / USUAL_MS);
}

function spin(): number {
  let state = 1;
  for (let i = 0; i < SPINS; i++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
  return state;
}
