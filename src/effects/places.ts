/**
 * How many runs execute at once. A run that waits for other runs of this server lends its place meanwhile: else runs
 * that wait for queued ones could hold all places, and nothing would ever start again.
 */

export interface Places {
  /** How many more runs may start when so many execute; below 1 none. */
  free(taken: number): number;
  /** One more run may start until the returned function is called. */
  lend(): () => void;
  /** As many places are lent as should be: runs that wait for runs which wait have to end somewhere. */
  isLentOut(): boolean;
  /** Calls `wake` after each place that is lent, until the returned function is called. */
  onLent(wake: () => void): () => void;
}

/** Places that are lent for each that there is. */
const MOST_LENT = 3;

export function createPlaces(count: number): Places {
  const wakes = new Set<() => void>();
  let lent = 0;
  return {
    // A run that waits for several others lends several places, but no more than are taken.
    free: (taken) => count + Math.min(lent, taken) - taken,
    lend() {
      lent += 1;
      let isLent = true;
      for (const wake of wakes) wake();
      return () => {
        if (isLent) lent -= 1;
        isLent = false;
      };
    },
    isLentOut: () => lent >= MOST_LENT * count,
    onLent(wake) {
      wakes.add(wake);
      return () => void wakes.delete(wake);
    },
  };
}
