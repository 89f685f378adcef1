/**
 * Reads the streams of all runs of a thread, one after the other, from any place and for as long as the reader stays.
 *
 * S2 Everything is read from the log in the order of the runs' turns, so every reader sees the same under the same
 * ids: live, late, again, after a restart. Frames past their retention are gone, and so is a run that was rolled
 * back. S3 A reader holds one page; it asks for the next when it has passed that one on.
 */
import type { Clock } from '../kernel/clock.ts';
import { writeJson, type Sendable } from '../kernel/json-text.ts';
import type { EventLog } from '../log/log.ts';
import type { FrameText, StoredFrame } from '../log/payloads.ts';
import { getRun, latestTurn, nextTurn, type RunRecord } from '../projections/run-queries.ts';
import type { Hub } from './hub.ts';
import { lastTurn } from './last-turn.ts';
import { pause } from './pause.ts';
import type { RunStreams } from './run-stream.ts';
import { isLargePage } from './shared-pages.ts';

/** `run_modes`: all frames and `run_done`. `lifecycle`: `metadata` and `run_done`. `state_update`: the state after each run. */
export const THREAD_STREAM_MODES = ['run_modes', 'lifecycle', 'state_update'] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** `id` is `<turn>-<frame>`, `<turn>-done` or `<turn>-state`: unique within the thread, for ever. */
export interface ThreadFrame extends FrameText {
  readonly id: string;
}

/** The last frame that a reader has seen. */
interface Place {
  readonly turn: number;
  readonly index: number;
}

export interface ThreadStreamOptions {
  readonly modes: readonly ThreadStreamMode[];
  /** Starts after this id; `-` and what is no id of the thread mean its beginning; undefined means now. */
  readonly after: string | undefined;
  /** Asked before each run: whether the reader may see the thread now. When not, the stream ends. */
  readonly visible: () => Promise<boolean>;
  /** The state that the run left behind; undefined when there is none to show any more. */
  readonly state: (run: RunRecord) => Promise<Sendable | undefined>;
  readonly signal: AbortSignal;
}

export interface ThreadStreams {
  /** Ends on abort, and when the thread is out of sight or gone. */
  read(threadId: string, options: ThreadStreamOptions): AsyncGenerator<ThreadFrame[]>;
}

const DONE = 2 ** 52;
const STATE = DONE + 1;

export function createThreadStreams(
  log: EventLog,
  hub: Hub,
  streams: RunStreams,
  clock: Clock,
): ThreadStreams {
  /** Of pages that many are given: what they are sent, the same for all. */
  const large = new WeakMap<readonly StoredFrame[], ThreadFrame[]>();

  async function start(threadId: string, id: string | undefined): Promise<Place> {
    const latest = await latestTurn(log.rows, threadId);
    const newest = latest?.turn ?? 0;
    if (id !== undefined) return parsePlace(id, await lastTurn(log, threadId));
    const open = latest !== undefined && latest.endedAt === null;
    return { turn: newest, index: open ? await log.payloads.lastFrame(latest.runId) : STATE };
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
    { modes, signal, state }: ThreadStreamOptions,
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
    const ended = await getRun(log.rows, run.runId);
    if (after < DONE && ends) {
      // Of a run that was rolled back nothing is left but what its readers have seen.
      const data = JSON.stringify({ run_id: run.runId, status: ended?.status ?? 'interrupted' });
      yield [{ event: 'run_done', data, id: id('done') }];
    }
    if (after >= STATE || !modes.includes('state_update') || ended === undefined) return;
    const left = await state(ended);
    if (left !== undefined) yield [{ event: 'state_update', data: writeJson(left), id: id('state') }];
  }

  return {
    async *read(threadId, options) {
      const { after, visible, signal } = options;
      const place = await start(threadId, after);
      // The run of the place is entered again: there may be more of it.
      let turn = place.turn - 1;
      while (!signal.aborted) {
        const wake = hub.next(threadId);
        if (!(await visible())) {
          wake.cancel();
          return;
        }
        const run = await nextTurn(log.rows, threadId, turn);
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

function parsePlace(id: string, newest: number): Place {
  const [, turn, part] = /^(\d{1,15})-(\d{1,15}|done|state)$/.exec(id) ?? [];
  if (turn === undefined || part === undefined || Number(turn) > newest) return { turn: 0, index: -1 };
  const index = part === 'done' ? DONE : part === 'state' ? STATE : Number(part);
  return { turn: Number(turn), index };
}
