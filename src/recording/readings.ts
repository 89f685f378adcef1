/**
 * Readings of the clocks of one attempt, by task and kind of clock. A list is kept as differences of neighbours with their
 * number of repetitions: most readings of `Date` equal the one before.
 */
import type { ClockKind, ClockPart, TaskKey } from './parts.ts';

/** Above it a recording is incomplete: a loop that waits for the clock reads it without end. */
export const MAX_READINGS = 100_000;

export interface ReadingLog {
  add(task: TaskKey, kind: ClockKind, value: number): void;
  /** Returns what was added since the last call; undefined when there is nothing. */
  take(): ClockPart['lists'] | undefined;
}

/** `onFull` is called once when a task has read one clock too often. */
export function openReadingLog(onFull: (task: TaskKey) => void): ReadingLog {
  const lists = new Map<
    string,
    { task: TaskKey; kind: ClockKind; last: number; count: number; runs: number[] }
  >();
  let isFull = false;
  return {
    add(task, kind, value) {
      if (isFull) return;
      const key = `${kind} ${task}`;
      let list = lists.get(key);
      if (list === undefined) lists.set(key, (list = { task, kind, last: 0, count: 0, runs: [] }));
      const { runs } = list;
      const delta = value - list.last;
      list.last = value;
      if (runs.length > 0 && runs[runs.length - 2] === delta) runs[runs.length - 1]! += 1;
      else runs.push(delta, 1);
      if (++list.count < MAX_READINGS) return;
      isFull = true;
      onFull(task);
    },
    take() {
      const taken: [TaskKey, ClockKind, readonly number[]][] = [];
      for (const list of lists.values()) {
        if (list.runs.length === 0) continue;
        taken.push([list.task, list.kind, list.runs]);
        list.runs = [];
      }
      return taken.length === 0 ? undefined : taken;
    },
  };
}

/** Shows recorded readings again. After the end of a list its clock goes on with the real time that passes. */
export function openReadings(
  parts: readonly ClockPart[],
  startedAt: number,
  realNow: () => number,
): (task: TaskKey, kind: ClockKind, real: number) => number {
  const lists = new Map<string, { attempt: number; values: number[] }>();
  for (const { attempt, lists: added } of parts)
    for (const [task, kind, runs] of added) {
      const key = `${kind} ${task}`;
      let list = lists.get(key);
      // A task that a later attempt repeated has the readings of that attempt only.
      if (list === undefined || list.attempt < attempt) lists.set(key, (list = { attempt, values: [] }));
      let last = list.values.at(-1) ?? 0;
      for (let at = 0; at < runs.length; at += 2)
        for (let count = 0; count < runs[at + 1]!; count++) list.values.push((last += runs[at]!));
    }
  const next = new Map<string, number>();
  /** The last shown reading of each kind, and the real one at that moment. */
  const shown = new Map<ClockKind, { value: number; real: number }>([
    ['date', { value: startedAt, real: realNow() }],
  ]);
  return (task, kind, real) => {
    const key = `${kind} ${task}`;
    const at = next.get(key) ?? 0;
    next.set(key, at + 1);
    const recorded = lists.get(key)?.values[at];
    const last = shown.get(kind);
    if (recorded === undefined) return last === undefined ? real : last.value + Math.max(0, real - last.real);
    // Parallel tasks read in any order: the clock that goes on is the latest.
    if (last === undefined || recorded >= last.value) shown.set(kind, { value: recorded, real });
    return recorded;
  };
}
