/**
 * Every program is measured warm. How long that takes differs: a server with two workers compiles the same library in
 * three threads, so a number of seconds would favour whoever has the fewest.
 */
const WINDOW_MS = 3_000;
const MAX_WINDOWS = 12;
/** Two windows in a row that gain less than this over the best before them. */
const GAIN = 1.03;

/** `perSecond` works for a while and says how much was done in it. */
export async function untilWarm(perSecond: (ms: number) => Promise<number>): Promise<void> {
  let best = 0;
  for (let window = 0, idle = 0; window < MAX_WINDOWS && idle < 2; window++) {
    const rate = await perSecond(WINDOW_MS);
    idle = rate < best * GAIN ? idle + 1 : 0;
    best = Math.max(best, rate);
  }
}
