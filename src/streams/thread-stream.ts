/**
 * Reads the frames of all runs of a thread in sequence, and client state updates between them, from any id onwards.
 *
 * S2 Everything is read from the log in the order of run ordinals, so all readers see the same frames and ids.
 * Expired frames and runs that were rolled back are missing. S3 A reader holds one page at a time.
 */
import type { Clock } from '../kernel/clock.ts';
import { writeJson, type Sendable } from '../kernel/json-text.ts';
import type { EventLog } from '../store/port/log.ts';
import type { FrameText, StoredFrame } from '../store/port/payloads.ts';
import { threadStream } from '../thread/events.ts';
import type { Hub } from './hub.ts';
import { maxOrdinal } from './max-ordinal.ts';
import { pause } from './pause.ts';
import type { RunStreams } from './run-stream.ts';
import { isLargePage } from './shared-pages.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

/** `run_modes`: all frames and the end of each run. `lifecycle`: `metadata` frames and the end. `state_update`: client writes. */
export const THREAD_STREAM_MODES = ['run_modes', 'lifecycle', 'state_update'] as const;
type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** `id` is `<ordinal>-<frame>`, `<ordinal>-done` or `<version>-state`: unique within the thread and never reused. */
interface ThreadFrame extends FrameText {
  readonly id: string;
}

/** The last frame that a reader has seen. `ordinal` is a thread version: a run's ordinal, or that of a state update. */
interface Cursor {
  readonly ordinal: number;
  readonly index: number;
}

interface ThreadStreamOptions {
  readonly modes: readonly ThreadStreamMode[];
  /** Starts after this id. `-` and unknown ids mean the thread's beginning; undefined means now. */
  readonly after: string | undefined;
  /** Called before each run. The stream ends when it resolves to false: the reader may not see the thread. */
  readonly visible: () => Promise<boolean>;
  /** The state at a checkpoint; undefined when the checkpoint is gone. */
  readonly state: (checkpointId: string) => Promise<Sendable | undefined>;
  readonly signal: AbortSignal;
}

export interface ThreadStreams {
  /** Resolves when the start is known. The frames end on abort, and when the thread is deleted or no longer visible. */
  read(threadId: string, options: ThreadStreamOptions): Promise<AsyncGenerator<ThreadFrame[]>>;
}

/** Cursor indices above any frame id: the run's end, and a state update. */
const DONE_INDEX = 2 ** 52;
const STATE_INDEX = DONE_INDEX + 1;
const EVENTS_PER_READ = 200;

export function createThreadStreams(
  log: EventLog,
  hub: Hub,
  streams: RunStreams,
  clock: Clock,
): ThreadStreams {
  /** Frames derived from sharedFrames pages, shared by all readers of a page. */
  const sharedFrames = new WeakMap<readonly StoredFrame[], ThreadFrame[]>();

  async function start(threadId: string, id: string | undefined): Promise<Cursor> {
    const newest = await maxOrdinal(log, threadId);
    if (id !== undefined) return parseCursor(id, newest);
    const latest = await log.views.runs.latest(threadId);
    if (latest?.ordinal == null || latest.endedAt !== null) return { ordinal: newest, index: STATE_INDEX };
    return { ordinal: latest.ordinal, index: await log.payloads.lastFrame(latest.runId) };
  }

  function withIds(page: readonly StoredFrame[], idOf: (frame: number) => string): ThreadFrame[] {
    const known = sharedFrames.get(page);
    if (known !== undefined) return known;
    const frames = page.map(({ event, data, id }) => ({ event, data, id: idOf(id) }));
    if (isLargePage(page)) sharedFrames.set(page, frames);
    return frames;
  }

  async function* readRun(
    run: RunRecord,
    after: number,
    { modes, signal }: ThreadStreamOptions,
  ): AsyncGenerator<ThreadFrame[]> {
    const all = modes.includes('run_modes');
    const ends = all || modes.includes('lifecycle');
    const id = (part: string | number): string => `${run.ordinal}-${part}`;
    if (after < DONE_INDEX) {
      // An id beyond the last frame is not one of this run, so the run is read from its beginning.
      const seen = after > (await log.payloads.lastFrame(run.runId)) ? -1 : after;
      for await (const page of streams.read(run, seen, signal)) {
        const wanted = all ? page : page.filter(({ event }) => ends && event === 'metadata');
        if (wanted.length > 0) yield withIds(wanted, id);
      }
      if (signal.aborted) return;
    }
    if (after >= DONE_INDEX || !ends) return;
    const data = JSON.stringify({ status: 'run_done', run_id: run.runId });
    yield [{ event: 'metadata', data, id: id('done') }];
  }

  /** State updates of clients with versions between `after` and `before`, both exclusive. */
  async function* readUpdates(
    threadId: string,
    [after, before]: readonly [number, number],
    state: ThreadStreamOptions['state'],
  ): AsyncGenerator<ThreadFrame[]> {
    for (let from = after + 1; ;) {
      const events = await log.readStream(threadStream(threadId), from, EVENTS_PER_READ);
      for (const { type, data, meta } of events) {
        if (meta.version >= before) return;
        if (type !== 'StateUpdated' || data.head === null) continue;
        const written = await state(data.head);
        if (written === undefined) continue;
        const shown = writeJson({ state: written, thread_id: threadId });
        yield [{ event: 'state_update', data: shown, id: `${meta.version}-state` }];
      }
      const last = events.at(-1);
      if (last === undefined) return;
      from = last.meta.version + 1;
    }
  }

  async function* readFrom(
    cursor: Cursor,
    threadId: string,
    options: ThreadStreamOptions,
  ): AsyncGenerator<ThreadFrame[]> {
    const { visible, signal, modes, state } = options;
    // The cursor's run is read again, because it may have further frames.
    let ordinal = cursor.ordinal - 1;
    let updatesReadTo = cursor.ordinal;
    while (!signal.aborted) {
      const wake = hub.next(threadId);
      if (!(await visible())) {
        wake.cancel();
        return;
      }
      // Read first: a run that starts later has a higher ordinal, so no update up to here belongs behind it.
      const newest = await maxOrdinal(log, threadId);
      const run = await log.views.runs.next(threadId, ordinal);
      if (modes.includes('state_update'))
        yield* readUpdates(threadId, [updatesReadTo, run?.ordinal ?? newest + 1], state);
      updatesReadTo = Math.max(updatesReadTo, run?.ordinal ?? newest);
      if (run?.ordinal == null) {
        await pause(wake, clock, signal);
        continue;
      }
      wake.cancel();
      ordinal = run.ordinal;
      yield* readRun(run, ordinal === cursor.ordinal ? cursor.index : -1, options);
    }
  }

  return {
    read: async (threadId, options) => readFrom(await start(threadId, options.after), threadId, options),
  };
}

function parseCursor(id: string, newest: number): Cursor {
  const [, ordinal, part] = /^(\d{1,15})-(\d{1,15}|done|state)$/.exec(id) ?? [];
  if (ordinal === undefined || part === undefined || Number(ordinal) > newest)
    return { ordinal: 0, index: -1 };
  const index = part === 'done' ? DONE_INDEX : part === 'state' ? STATE_INDEX : Number(part);
  return { ordinal: Number(ordinal), index };
}
