/**
 * Concurrency permits limit how many runs execute at once. A run that waits for other runs of this server releases its
 * permit meanwhile: otherwise waiting runs could hold all permits while the runs they wait for are queued forever.
 */

export interface Permits {
  /** Number of runs that may start while `taken` runs execute; 0 or less means none. */
  free(taken: number): number;
  /** Lets one more run start until the returned function is called. */
  release(): () => void;
  /** Tells whether too many permits are released: without a bound, chains of waiting runs would grow forever. */
  isExhausted(): boolean;
  /** Calls `wake` after each release, until the returned function is called. */
  onReleased(wake: () => void): () => void;
}

/** Bound on released permits per existing permit. */
const MAX_RELEASED_PER_PERMIT = 3;

export function createPermits(count: number): Permits {
  const wakes = new Set<() => void>();
  let released = 0;
  return {
    // A run that waits for several runs releases several permits, so the bonus is limited to the permits taken.
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
