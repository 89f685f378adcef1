/**
 * Reads a thread's runs, in the order of their ordinals, as protocol events.
 *
 * S2 Each reader folds events from the stored frames, so live, late and restarted readers see the same ids. A run whose
 * frames have expired yields no events. S3 A reader holds one page of frames. X3 A run's terminal event is derived from
 * its `RunCompleted` event, so it follows all frames and the final state.
 */
import type { Clock } from '../kernel/clock.ts';
import { interruptKeys } from '../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../store/port/log.ts';
import { toNamedId, type Draft, type ThreadEvent } from '../protocol/event.ts';
import { START, toEventId, toSeq, type NamedEvent, type StreamCursor } from '../protocol/stream-cursor.ts';
import { openRunFold, type RunEnding, type RunFold } from '../protocol/run-fold.ts';
import { runEndOf } from '../thread/run-end.ts';
import type { Hub, Wake } from './hub.ts';
import { maxOrdinal } from './max-ordinal.ts';
import { pause } from './pause.ts';
import { openRunPages, type RunPages } from './run-pages.ts';
import { createSharedTexts } from './shared-texts.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

export interface ThreadReader {
  /** The next events in order, possibly none. Undefined when everything committed so far has been returned. */
  poll(): Promise<readonly ThreadEvent[] | undefined>;
  /** Call it after `poll` returned undefined: settles at a change or on abort. It is a hint; poll again. */
  wait(signal: AbortSignal): Promise<void>;
  close(): void;
}

interface ReadOptions {
  /** Events up to and including this cursor are skipped. */
  readonly after?: StreamCursor;
  /** Called before each run: resolves to true if the reader may see the thread. */
  readonly visible: () => Promise<boolean>;
}

export interface ThreadEvents {
  /**
   * The cursor to resume from. An unknown cursor or event resumes from the thread's beginning; it becomes unknown when
   * its run is rolled back or an older log is restored.
   */
  resume(threadId: string, given: StreamCursor | NamedEvent | undefined): Promise<StreamCursor>;
  /** Starts a reader. The thread need not exist yet. */
  read(threadId: string, options: ReadOptions): ThreadReader;
  /** Serialises an event with `write`; long texts are UTF-8 bytes, shared by all readers of the same form. */
  textOf(
    threadId: string,
    form: 'sse' | 'socket',
    event: ThreadEvent,
    write: (event: ThreadEvent) => string,
  ): string | Uint8Array;
  /** The graphs and nodes of a run, derived from the frames still stored. */
  nodes(run: RunRecord): Promise<ReturnType<RunFold['nodes']>>;
}

const PAGE_FRAMES = 500;
/** Stands in for the missing first frame of a run that ended before it started. */
const FIRST_FRAME = { id: 0, event: 'metadata', data: '{}' };

interface Current {
  readonly run: RunRecord;
  readonly ordinal: number;
  readonly fold: RunFold;
  readonly pages: RunPages;
  index: number;
  at: number;
}

export function createThreadEvents(log: EventLog, hub: Hub, clock: Clock): ThreadEvents {
  const texts = createSharedTexts();
  const foldOf = ({ graphId, kwargs, startedAt }: RunRecord): RunFold => {
    const resumed = startedAt === null ? undefined : interruptKeys(kwargs.command?.['resume']);
    return openRunFold({ graphId, modes: kwargs.streamMode, ...(resumed && { resumed }) });
  };

  const isExpired = async ({ runId, startedAt, endedAt }: RunRecord): Promise<boolean> =>
    startedAt !== null && endedAt !== null && (await log.payloads.lastFrame(runId)) < 0;

  /** Folds a run's stored frames from the first one. */
  async function* foldFrames(run: RunRecord, fold: RunFold): AsyncGenerator<readonly Draft[]> {
    if (run.startedAt === null) yield fold.frame(FIRST_FRAME);
    for (let after = -1; ;) {
      const page = await log.payloads.frames(run.runId, after, PAGE_FRAMES);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
      for (const frame of page) yield fold.frame(frame);
    }
    if (run.outcome !== null) yield fold.end(endingOf(run.outcome));
  }

  async function find(threadId: string, { runId, eventId }: NamedEvent): Promise<StreamCursor | undefined> {
    const run = await log.views.runs.get(runId, { threadId });
    if (run === undefined || run.ordinal === null) return undefined;
    let index = 0;
    for await (const drafts of foldFrames(run, foldOf(run)))
      for (const { mark } of drafts) {
        if (mark !== undefined && toNamedId(runId, mark) === eventId) return { ordinal: run.ordinal, index };
        index += 1;
      }
    return undefined;
  }

  return {
    async resume(threadId, given = START) {
      const cursor = 'runId' in given ? ((await find(threadId, given)) ?? START) : given;
      return cursor.ordinal > (await maxOrdinal(log, threadId)) ? START : cursor;
    },

    read(threadId, { after = START, visible }) {
      const seen = toSeq(after);
      /** Pages opened while the expiry check is pending, so that `close` can release them. */
      let opening: RunPages | undefined;
      let current: Current | undefined;
      let ordinal = after.ordinal - 1;
      let pending: Wake | undefined;
      let closed = false;

      function toEvents(run: Current, drafts: readonly Draft[], at: number): ThreadEvent[] {
        run.at = at === 0 ? run.at : at;
        return drafts
          .map((draft) => {
            const cursor = { ordinal: run.ordinal, index: run.index++ };
            const { mark } = draft;
            const eventId = mark === undefined ? toEventId(cursor) : toNamedId(run.run.runId, mark);
            return { ...draft, seq: toSeq(cursor), eventId, at: run.at };
          })
          .filter(({ seq }) => seq > seen);
      }

      function end(run: Current, ended: RunRecord | undefined): ThreadEvent[] {
        ordinal = run.ordinal;
        run.pages.close();
        current = undefined;
        return toEvents(run, run.fold.end(endingOf(ended?.outcome ?? undefined)), ended?.endedAt ?? run.at);
      }

      async function begin(): Promise<ThreadEvent[] | undefined> {
        pending?.cancel();
        pending = hub.next(threadId);
        const run = (await visible()) ? await log.views.runs.next(threadId, ordinal) : undefined;
        if (run === undefined || run.ordinal === null) return undefined;
        // A subscription keeps the frames from being deleted, so expiry is checked after subscribing.
        const pages = (opening = openRunPages(log, hub, clock, run, -1));
        const expired = await isExpired(run);
        opening = undefined;
        if (expired || closed) pages.close();
        if (expired) {
          ordinal = run.ordinal;
          return [];
        }
        pending.cancel();
        // After `close` nothing would release the pages, so the run is not entered.
        if (closed) return undefined;
        current = { run, ordinal: run.ordinal, fold: foldOf(run), pages, index: 0, at: run.createdAt };
        if (run.startedAt !== null) return [];
        const began = toEvents(current, current.fold.frame(FIRST_FRAME), run.endedAt ?? 0);
        return [...began, ...end(current, run)];
      }

      async function goOn(run: Current): Promise<ThreadEvent[] | undefined> {
        const page = await run.pages.poll();
        if (page === undefined) return end(run, await log.views.runs.get(run.run.runId));
        if (page.length === 0) return undefined;
        return page.flatMap((frame) => toEvents(run, run.fold.frame(frame), frame.at));
      }

      return {
        poll: () => (current === undefined ? begin() : goOn(current)),
        async wait(signal) {
          if (current !== undefined) await current.pages.wait(signal);
          else if (pending !== undefined) await pause(pending, clock, signal);
        },
        close() {
          closed = true;
          pending?.cancel();
          opening?.close();
          current?.pages.close();
        },
      };
    },

    textOf: (threadId, form, event, write) =>
      texts.of(`${form} ${threadId} ${event.eventId} ${event.namespace.length}`, () => write(event)),

    async nodes(run) {
      const fold = foldOf(run);
      for await (const _ of foldFrames(run, fold));
      return fold.nodes();
    },
  };
}

/** A missing outcome means that the run was rolled back or deleted; it ends as interrupted. */
function endingOf(outcome: RunRecord['outcome'] | undefined): RunEnding {
  switch (outcome?.kind) {
    case 'success': {
      const interrupts = Object.values(outcome.interrupts).flatMap(toList);
      const paused = interrupts.length > 0 || outcome.next.length > 0;
      return { status: paused ? 'interrupted' : 'completed', interrupts };
    }
    case 'error':
    case 'timeout': {
      const { error: _, message, ...refusal } = runEndOf(outcome, { attempt: 1, head: null }).error!;
      return { status: 'failed', error: message, refusal, interrupts: [] };
    }
    default:
      return { status: 'interrupted', interrupts: [] };
  }
}

const toList = (value: Json): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
