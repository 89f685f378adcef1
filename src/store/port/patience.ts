/** Calls that wait for a store that is away: runs, and replies that have begun, go on when it is back. */
import type { Clock } from '../../kernel/clock.ts';
import { LogAway } from './log-failures.ts';

/** Time between two tries. */
const RETRY_MS = 250;

/** Asks again while the store is away. */
export type Patience = <T>(ask: () => Promise<T>) => Promise<T>;

/** `isOver`: the caller needs no answer any more, so the error of the last try counts. */
export const createPatience =
  (clock: Clock, isOver: () => boolean): Patience =>
  async (ask) => {
    for (;;)
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof LogAway) || isOver()) throw error;
        await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
      }
  };
