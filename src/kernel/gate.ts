/** Lets a few through at a time; the others wait in order. */
export interface Gate {
  enter<T>(work: () => Promise<T>): Promise<T>;
}

export function openGate(most: number): Gate {
  const waiting: (() => void)[] = [];
  let inside = 0;
  /** The first that waits: to take many from the front of a list would move all the rest each time. */
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
    // Its place is taken over, so nobody who comes meanwhile gets before it.
    first();
  }

  return {
    async enter(work) {
      if (inside < most) inside += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
