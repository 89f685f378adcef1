/** Numbers the runs of a thread and times their attempts. */
import type { Recorded } from '../../store/port/events.ts';
import type { ThreadEvent } from '../../thread/events.ts';
import type { Around } from './summary.ts';

export interface Runs {
  /** Call in the order of events. Times are those of the attempt that the event belongs to. */
  around(event: Recorded): Around & { readonly startedAt?: number };
}

interface Times {
  readonly ordinal: number;
  /** Time since which the run waits for its next attempt. */
  readyAt: number;
  startedAt: number;
}

/** `events`: all events of the thread. */
export function openRuns(events: readonly Recorded<ThreadEvent>[]): Runs {
  const runs = new Map<string, Times>();
  for (const { type, data, meta } of events)
    if (type === 'RunCreated')
      runs.set(data.runId, {
        ordinal: runs.size + 1,
        readyAt: Math.max(meta.at, data.notBefore),
        startedAt: 0,
      });
  return {
    around({ type, data, meta: { at } }) {
      const run = 'runId' in data ? runs.get(data.runId) : undefined;
      if (run === undefined) return {};
      const { ordinal, readyAt } = run;
      if (type === 'RunStarted') {
        run.startedAt = at;
        return { ordinal, waitedMs: at - readyAt };
      }
      if (type === 'RunRequeued') run.readyAt = at;
      const { startedAt } = run;
      const isEnd = type === 'RunCompleted' && data.attempt > 0;
      return { ordinal, startedAt, ...(isEnd && { tookMs: at - startedAt }) };
    },
  };
}
