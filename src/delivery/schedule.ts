/** When a failed webhook is tried again: growing pauses, about two and a half days in all. */
const PAUSES_S = [1, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800, 43_200, 43_200, 43_200];

/** Milliseconds between attempt `attempt` (from 1) and the next, or undefined when it was the last. */
export function pauseAfter(attempt: number): number | undefined {
  const seconds = PAUSES_S[attempt - 1];
  return seconds === undefined ? undefined : seconds * 1000;
}
