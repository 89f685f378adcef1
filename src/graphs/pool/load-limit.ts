/**
 * How long a worker may take to load the graphs. X4 Modules that hang in a later worker keep runs waiting for as long, so
 * the later ones have a limit that follows from what the first one took.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { Loaded } from './sides.ts';

export interface LoadLimit {
  /** Of the next worker, in milliseconds. */
  readonly ms: number;
  /** Of one module; not known before the first worker is there, which ends when a module hangs. */
  readonly moduleMs: number | undefined;
  /** It has just been started, and this is its `loaded`. */
  watch(loaded: Promise<Pick<Loaded, 'problems'>>): void;
}

/** Far beyond what any project takes. */
const MOST_MS = 120_000;
/** The machine may have much to do by then. */
const LEAST_MS = 10_000;
const TIMES_FIRST = 20;
/** A worker that lacks what hangs is better than none. */
const MODULE_PART = 2;

const laterLimit = (firstMs: number): number => Math.max(LEAST_MS, TIMES_FIRST * firstMs);

/** `later` says what follows from the time of the first. */
export function createLoadLimit(clock: Pick<Clock, 'monotonic'>, later = laterLimit): LoadLimit {
  let usual: number | undefined;
  let ms = MOST_MS;
  return {
    get ms() {
      return ms;
    },
    get moduleMs() {
      return usual === undefined ? undefined : ms / MODULE_PART;
    },
    watch(loaded) {
      const began = clock.monotonic();
      // Perhaps it was only slow: each after it has twice as long, until one comes up.
      const extend = (): void => void (ms = Math.min(2 * ms, MOST_MS));
      loaded.then(({ problems }) => {
        if (problems.some(({ isLate }) => isLate)) return extend();
        ms = usual ??= Math.min(later(clock.monotonic() - began), MOST_MS);
      }, extend);
    },
  };
}
