/**
 * The clocks of one task: they show what they have shown to the task in an earlier attempt, then go on. `Date` goes on with the
 * real time, because signatures and certificates need it; clocks that only measure go on from their last reading.
 */
import type { ClockKind } from './parts.ts';
import { MAX_READINGS } from './readings.ts';

/** Numbers of readings by clock. */
type ClockMark = ReadonlyMap<ClockKind, number>;

export interface TaskClocks {
  show(kind: ClockKind, real: number): number;
  /** How many readings there are now. */
  mark(): ClockMark;
  /** Returns the readings up to the mark that were not taken before. */
  take(mark: ClockMark): readonly (readonly [clock: ClockKind, values: readonly number[]])[];
}

interface Clock {
  readonly values: number[];
  next: number;
  taken: number;
  /** The last reading of the earlier attempt, and the real one at that moment. */
  anchor?: { readonly shown: number; readonly real: number };
}

export function openTaskClocks(earlier: ReadonlyMap<ClockKind, readonly number[]> = new Map()): TaskClocks {
  const clocks = new Map<ClockKind, Clock>(
    [...earlier].map(([kind, values]) => [kind, { values: [...values], next: 0, taken: values.length }]),
  );
  return {
    show(kind, real) {
      let clock = clocks.get(kind);
      if (clock === undefined) clocks.set(kind, (clock = { values: [], next: 0, taken: 0 }));
      const { values, anchor } = clock;
      let shown = values[clock.next];
      if (shown !== undefined) clock.anchor = { shown, real };
      else {
        shown =
          anchor === undefined || kind === 'date' ? real : anchor.shown + Math.max(0, real - anchor.real);
        if (values.length < MAX_READINGS) values.push(shown);
      }
      clock.next += 1;
      return shown;
    },
    mark: () => new Map([...clocks].map(([kind, { next, values }]) => [kind, Math.min(next, values.length)])),
    take: (mark) =>
      [...mark].flatMap(([kind, count]) => {
        const clock = clocks.get(kind)!;
        if (count <= clock.taken) return [];
        const values = clock.values.slice(clock.taken, count);
        clock.taken = count;
        return [[kind, values] as const];
      }),
  };
}
