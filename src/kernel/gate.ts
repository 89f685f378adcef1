/** Limits concurrent work; further work waits in order of arrival. */
export interface Gate {
  enter<T>(work: () => Promise<T>): Promise<T>;
}

export function openGate(maxConcurrent: number): Gate {
  const waiting: (() => void)[] = [];
  let inside = 0;
  /** Index of the first waiter: `shift` on a long array would move all the rest. */
  let next = 0;

  function leave(): void {
    const first = waiting[next];
    if (first === undefined) {
      inside -= 1;
      return;
    }
    next += 1;
    if (next === waiting.length) {
      waiting.length = 0;
      next = 0;
    }
    // The slot passes directly to the first waiter, so that later arrivals cannot overtake it.
    first();
  }

  return {
    async enter(work) {
      if (inside < maxConcurrent) inside += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
