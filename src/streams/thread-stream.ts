/**
 * Reads the streams of all runs of a thread, one after the other, and between them the states that clients wrote, from
 * any place and for as long as the reader stays.
 *
 * S2 Everything is read from the log in the order of the runs' turns, so every reader sees the same under the same
 * ids: live, late, again, after a restart. Frames past their retention are gone, and so is a run that was rolled
 * back. S3 A reader holds one page; it asks for the next when it has passed that one on.
 */
import type { Clock } from '../kernel/clock.ts';
import { writeJson, type Sendable } from '../kernel/json-text.ts';
import type { EventLog } from '../log/log.ts';
import type { FrameText, StoredFrame } from '../log/payloads.ts';
import { latestTurn, nextTurn, type RunRecord } from '../projections/run-queries.ts';
import { threadStream } from '../thread/events.ts';
import type { Hub } from './hub.ts';
import { lastTurn } from './last-turn.ts';
import { pause } from './pause.ts';
import type { RunStreams } from './run-stream.ts';
import { isLargePage } from './shared-pages.ts';

/** `run_modes`: all frames and the end of each run. `lifecycle`: both `metadata` frames of a run. `state_update`: what clients write. */
export const THREAD_STREAM_MODES = ['run_modes', 'lifecycle', 'state_update'] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** `id` is `<turn>-<frame>`, `<turn>-done` or `<version>-state`: unique within the thread, for ever. */
export interface ThreadFrame extends FrameText {
  readonly id: string;
}

/** The last frame that a reader has seen. `turn` is a version of the thread: of a run's turn, or of a state update. */
interface Cursor {
  readonly turn: number;
  readonly index: number;
}

export interface ThreadStreamOptions {
  readonly modes: readonly ThreadStreamMode[];
  /** Starts after this id; `-` and what is no id of the thread mean its beginning; undefined means now. */
  readonly after: string | undefined;
  /** Asked before each run: whether the reader may see the thread now. When not, the stream ends. */
  readonly visible: () => Promise<boolean>;
  /** The state at a checkpoint; undefined when there is none to show any more. */
  readonly state: (checkpointId: string) => Promise<Sendable | undefined>;
  readonly signal: AbortSignal;
}

export interface ThreadStreams {
  /** Ends on abort, and when the thread is out of sight or gone. */
  read(threadId: string, options: ThreadStreamOptions): AsyncGenerator<ThreadFrame[]>;
}

const DONE = 2 ** 52;
const STATE = DONE + 1;
const EVENTS_PER_READ = 200;

export function createThreadStreams(
  log: EventLog,
  hub: Hub,
  streams: RunStreams,
  clock: Clock,
): ThreadStreams {
  /** Of pages that many are given: what they are sent, the same for all. */
  const large = new WeakMap<readonly StoredFrame[], ThreadFrame[]>();

  async function start(threadId: string, id: string | undefined): Promise<Cursor> {
    const newest = await lastTurn(log, threadId);
    if (id !== undefined) return parseCursor(id, newest);
    const latest = await latestTurn(log.rows, threadId);
    if (latest?.turn == null || latest.endedAt !== null) return { turn: newest, index: STATE };
    return { turn: latest.turn, index: await log.payloads.lastFrame(latest.runId) };
  }

  function placed(page: readonly StoredFrame[], idOf: (frame: number) => string): ThreadFrame[] {
    const known = large.get(page);
    if (known !== undefined) return known;
    const frames = page.map(({ event, data, id }) => ({ event, data, id: idOf(id) }));
    if (isLargePage(page)) large.set(page, frames);
    return frames;
  }

  async function* readRun(
    run: RunRecord,
    after: number,
    { modes, signal }: ThreadStreamOptions,
  ): AsyncGenerator<ThreadFrame[]> {
    const all = modes.includes('run_modes');
    const ends = all || modes.includes('lifecycle');
    const id = (part: string | number): string => `${run.turn}-${part}`;
    if (after < DONE) {
      // Who has seen more than there is was never here.
      const seen = after > (await log.payloads.lastFrame(run.runId)) ? -1 : after;
      for await (const page of streams.read(run, seen, signal)) {
        const wanted = all ? page : page.filter(({ event }) => ends && event === 'metadata');
        if (wanted.length > 0) yield placed(wanted, id);
      }
      if (signal.aborted) return;
    }
    if (after >= DONE || !ends) return;
    const data = JSON.stringify({ status: 'run_done', run_id: run.runId });
    yield [{ event: 'metadata', data, id: id('done') }];
  }

  /** What clients wrote after version `after` and before version `before`. */
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

  return {
    async *read(threadId, options) {
      const { after, visible, signal, modes, state } = options;
      const place = await start(threadId, after);
      // The run of the place is entered again: there may be more of it.
      let turn = place.turn - 1;
      let told = place.turn;
      while (!signal.aborted) {
        const wake = hub.next(threadId);
        if (!(await visible())) {
          wake.cancel();
          return;
        }
        const run = await nextTurn(log.rows, threadId, turn);
        const newest = await lastTurn(log, threadId);
        if (modes.includes('state_update'))
          yield* readUpdates(threadId, [told, run?.turn ?? newest + 1], state);
        told = Math.max(told, run?.turn ?? newest);
        if (run?.turn == null) {
          await pause(wake, clock, signal);
          continue;
        }
        wake.cancel();
        turn = run.turn;
        yield* readRun(run, turn === place.turn ? place.index : -1, options);
      }
    },
  };
}

function parseCursor(id: string, newest: number): Cursor {
  const [, turn, part] = /^(\d{1,15})-(\d{1,15}|done|state)$/.exec(id) ?? [];
  if (turn === undefined || part === undefined || Number(turn) > newest) return { turn: 0, index: -1 };
  const index = part === 'done' ? DONE : part === 'state' ? STATE : Number(part);
  return { turn: Number(turn), index };
}
