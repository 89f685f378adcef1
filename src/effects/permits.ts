/**
 * Concurrency permits: how many runs execute at once. A run that waits for other runs of this server releases its permit
 * meanwhile: otherwise runs that wait for queued ones could hold all permits, and none would ever start again.
 */

export interface Permits {
  /** How many more runs may start when `taken` runs execute; below 1 none. */
  free(taken: number): number;
  /** Lets one more run start until the returned function is called. */
  release(): () => void;
  /** So many permits are released that no further run should wait: runs that wait for runs which wait have to end somewhere. */
  isExhausted(): boolean;
  /** Calls `wake` after each release, until the returned function is called. */
  onReleased(wake: () => void): () => void;
}

/** Permits that may be released for each that there is. */
const MAX_RELEASED_PER_PERMIT = 3;

export function createPermits(count: number): Permits {
  const wakes = new Set<() => void>();
  let released = 0;
  return {
    // A run that waits for several others releases several permits, but no more than are taken.
    free: (taken) => count + Math.min(released, taken) - taken,
    release() {
      released += 1;
      let isReleased = true;
      for (const wake of wakes) wake();
      return () => {
        if (isReleased) released -= 1;
        isReleased = false;
      };
    },
    isExhausted: () => released >= MAX_RELEASED_PER_PERMIT * count,
    onReleased(wake) {
      wakes.add(wake);
      return () => void wakes.delete(wake);
    },
  };
}
