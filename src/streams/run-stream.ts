/**
 * Reads a run's frames from any id to its end, and its result.
 *
 * S3 A reader holds one page; it asks for the next when it has passed that one on.
 */
import type { Clock } from '../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { JsonText } from '../kernel/json-text.ts';
import type { EventLog } from '../log/log.ts';
import type { StoredFrame } from '../log/payloads.ts';
import { endOfRun, type EndedRun } from '../projections/run-end-queries.ts';
import { runEndOf } from '../thread/run-end.ts';
import type { RunRef } from '../thread/events.ts';
import type { Hub } from './hub.ts';
import { pause } from './pause.ts';
import { openRunPages } from './run-pages.ts';

export interface RunStreams {
  /** Pages of frames with ids above `after`; ends when the run has ended and everything was read, or on abort. */
  read(run: RunRef, after: number, signal: AbortSignal): AsyncGenerator<StoredFrame[]>;
  /** The run once it has ended; undefined when it is gone (rolled back, deleted) or the signal aborts. */
  ended(runId: string, signal: AbortSignal): Promise<EndedRun | undefined>;
  /**
   * What `wait` and `join` answer for an ended run: what its last frame of the mode `values` shows. It is read from
   * the thread's head and from the values that the run left outside its checkpoints, so it needs neither that mode nor
   * the frames; only what was done beside a task that asks is in no checkpoint yet, and is answered while the frames are
   * kept.
   */
  result(run: EndedRun | undefined): Promise<Json | JsonText>;
}

/** Among the last frames of a run that asks is its last state, unless so many tasks of one step ask. */
const TAIL = 100;

export function createRunStreams(log: EventLog, hub: Hub, clock: Clock): RunStreams {
  return {
    async *read(run, after, signal) {
      const pages = openRunPages(log, hub, clock, run, after);
      // Who leaves between two pages does not come back to say so.
      signal.addEventListener('abort', pages.close, { once: true });
      try {
        while (!signal.aborted) {
          const page = await pages.poll();
          if (page === undefined) return;
          if (page.length > 0) yield page;
          else await pages.wait(signal);
        }
      } finally {
        signal.removeEventListener('abort', pages.close);
        pages.close();
      }
    },

    async ended(runId, signal) {
      while (!signal.aborted) {
        const next = hub.end(runId);
        const end = await endOfRun(log.rows, runId);
        if (end !== 'open') {
          next.cancel();
          return end;
        }
        await pause(next, clock, signal);
      }
      return undefined;
    },

    async result(run) {
      const outcome = run?.outcome ?? undefined;
      if (run === undefined || outcome === undefined)
        return { __error__: { error: 'RunGone', message: 'The run was rolled back or deleted.' } };
      const { error, isFrame } = runEndOf(outcome, { attempt: 1, head: run.head });
      if (error !== null && isFrame) return { __error__: { ...error } };
      const values = run.head === null ? undefined : await log.payloads.values(run.threadId, run.head);
      // A workflow may have returned nothing.
      const answer = values === undefined || values.text === 'null' ? {} : values;
      if (outcome.kind !== 'success') return answer;
      const interrupts = Object.values(outcome.interrupts).flat();
      const untracked = await log.payloads.untracked(run.runId);
      if (interrupts.length === 0 && untracked === undefined) return answer;
      const beside = interrupts.length === 0 ? undefined : await valuesBesideQuestions(run.runId);
      const shown = beside ?? values?.parse();
      return {
        ...(isObject(shown) && shown),
        ...(untracked !== undefined && (JSON.parse(untracked) as JsonObject)),
        ...(interrupts.length > 0 && { __interrupt__: interrupts }),
      };
    },
  };

  /** The state that was shown after the questions of its step: with what the tasks that did not ask have written. */
  async function valuesBesideQuestions(runId: string): Promise<Json | undefined> {
    let cursor = Math.max(-1, (await log.payloads.lastFrame(runId)) - TAIL);
    let last: string | undefined;
    for (
      let page;
      (page = await log.payloads.frames(runId, cursor, TAIL)).length > 0;
      cursor = page.at(-1)!.id
    )
      last = page.findLast(({ event }) => event === 'values')?.data ?? last;
    const values = last === undefined ? undefined : (JSON.parse(last) as Json);
    return isObject(values) && !('__interrupt__' in values) ? values : undefined;
  }
}
