/** Reads a run's frames from any id to its end, and its result. S3 A reader holds one page at a time. */
import type { Clock } from '../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { JsonText } from '../kernel/json-text.ts';
import type { EventLog } from '../store/port/log.ts';
import { createPatience } from '../store/port/patience.ts';
import type { StoredFrame } from '../store/port/payloads.ts';
import { runEndOf } from '../thread/run-end.ts';
import type { RunRef } from '../thread/events.ts';
import type { Hub, ToldEnd, Wake } from './hub.ts';
import { pause } from './pause.ts';
import { openRunPages } from './run-pages.ts';
import type { Subscriber } from './subscriber.ts';
import type { EndedRun } from '../store/port/views/runs.ts';

export interface RunStreams {
  /** Follows the frames of a run that is about to be created. The caller closes the subscriber, or `read` does. */
  follow(run: RunRef): Subscriber;
  /** Yields pages of frames with ids above `after`. Returns after the run's last frame, or on abort. */
  read(run: RunRef, after: number, signal: AbortSignal, followed?: Subscriber): AsyncGenerator<StoredFrame[]>;
  /** Follows the end of a run that is about to be created. The caller cancels it, or `ended` does. */
  followEnd(run: RunRef): Wake<ToldEnd>;
  /** Waits for the run's end. Undefined when the run is rolled back or deleted, or the signal aborts. */
  ended(run: RunRef, signal: AbortSignal, followed?: Wake<ToldEnd>): Promise<EndedRun | undefined>;
  /**
   * The answer of `wait` and `join` for an ended run; it equals the run's last `values` frame. It is read from the head
   * checkpoint and the run's untracked values. Results of tasks parallel to an interrupted one are in no checkpoint:
   * they are read from frames, and missing once frames expire.
   */
  result(run: EndedRun | ToldEnd | undefined): Promise<Json | JsonText>;
}

/** An interrupted run's last `values` frame is within this tail unless more tasks of one step interrupt. */
const TAIL_FRAMES = 100;

export function createRunStreams(log: EventLog, hub: Hub, clock: Clock): RunStreams {
  const read: RunStreams['read'] = async function* (run, after, signal, followed) {
    const pages = openRunPages(log, hub, clock, run, after, followed);
    // A consumer that aborts between two pages never resumes the generator, so its `finally` does not run.
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
  };

  return {
    follow(run) {
      const subscriber = hub.subscribe(run);
      // Nothing of the run is in the log: all that follows is pushed.
      subscriber.take();
      return subscriber;
    },

    read(run, after, signal, followed) {
      // A reply that is aborted before it is read never starts the generator.
      if (followed !== undefined) signal.addEventListener('abort', followed.close, { once: true });
      return read(run, after, signal, followed);
    },

    followEnd: hub.end,

    async ended(run, signal, followed) {
      const patiently = createPatience(clock, () => signal.aborted);
      const told = followed && (await pause(followed, clock, signal));
      if (told !== undefined) return told;
      while (!signal.aborted) {
        const next = hub.end(run);
        const end = await patiently(() => log.views.runs.end(run.runId));
        if (end !== 'open') {
          next.cancel();
          return end;
        }
        const found = await pause(next, clock, signal);
        if (found !== undefined) return found;
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
      // A functional workflow that returns nothing has the values `null`.
      const answer = values === undefined || values.text === 'null' ? {} : values;
      if (outcome.kind !== 'success') return answer;
      const interrupts = Object.values(outcome.interrupts).flat();
      const untracked = 'untracked' in run ? run.untracked : await log.payloads.untracked(run.runId);
      if (interrupts.length === 0 && untracked === undefined) return answer;
      const parallel = interrupts.length === 0 ? undefined : await valuesAfterInterrupts(run.runId);
      const shown = parallel ?? values?.parse();
      return {
        ...(isObject(shown) && shown),
        ...(untracked !== undefined && (JSON.parse(untracked) as JsonObject)),
        ...(interrupts.length > 0 && { __interrupt__: interrupts }),
      };
    },
  };

  /** The last `values` frame if it follows the step's interrupts: it has the writes of the step's other tasks. */
  async function valuesAfterInterrupts(runId: string): Promise<Json | undefined> {
    let cursor = Math.max(-1, (await log.payloads.lastFrame(runId)) - TAIL_FRAMES);
    let last: string | undefined;
    for (
      let page;
      (page = await log.payloads.frames(runId, cursor, TAIL_FRAMES)).length > 0;
      cursor = page.at(-1)!.id
    )
      last = page.findLast(({ event }) => event === 'values')?.data ?? last;
    const values = last === undefined ? undefined : (JSON.parse(last) as Json);
    return isObject(values) && !('__interrupt__' in values) ? values : undefined;
  }
}
