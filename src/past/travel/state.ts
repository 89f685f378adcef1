/** R2 Returns the state of one thread at a position of the log. */
import { toTimestamp } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Recorded } from '../../store/port/events.ts';
import type { History } from '../../store/port/past.ts';
import { threadStream, type ThreadEvent } from '../../thread/events.ts';
import { openThreadPast, savedHeadOf, type ThreadMoment } from './thread-past.ts';
import { nodesAfter } from './version.ts';

export interface PastState {
  readonly thread_id: string;
  readonly position: number;
  /** Time of the thread's last event up to the position. */
  readonly time: string;
  readonly graph_id: string | null;
  readonly status: string;
  readonly machine: Json;
  readonly metadata: JsonObject;
  readonly values: Json;
  readonly runs: readonly { readonly run_id: string; readonly status: string; readonly attempt: number }[];
  /** Nodes that run next. */
  readonly next: readonly string[];
  /** Interrupts by task id. */
  readonly interrupts: JsonObject;
  /** Name and message of the error that stopped the thread. */
  readonly error: Json;
}

/** R2 States of one thread. The first answer reads the thread's events, later ones a few of them. */
export interface PastStates {
  /** Returns undefined when the thread does not exist at the position or is purged. */
  at(to: number): Promise<PastState | undefined>;
}

export const stateAt = (history: History, threadId: string, to: number): Promise<PastState | undefined> =>
  openPastStates(history, threadId).at(to);

export function openPastStates(history: History, threadId: string): PastStates {
  const past = openThreadPast(history, threadId);
  return {
    async at(to) {
      const moment = await past.at(to);
      const { machine, thread: row, runs, at } = moment;
      const thread = row && history.threadOf(row);
      if (thread === undefined) return undefined;
      const { status, metadata, head, interrupts, error } = thread;
      return {
        thread_id: threadId,
        position: to,
        time: toTimestamp(at),
        graph_id: runs[0]?.graphId ?? null,
        status,
        machine: machine as unknown as Json,
        metadata,
        values: head === null ? null : ((await history.payloads.values(threadId, head))?.parse() ?? null),
        runs: runs.map(({ runId, status: of, attempt }) => ({ run_id: runId, status: of, attempt })),
        next: head === null ? [] : await nextOf(history, threadId, head, moment),
        interrupts,
        error,
      };
    },
  };
}

/** Returns the nodes that ran after the head checkpoint, or have yet to run. */
async function nextOf(
  history: History,
  threadId: string,
  head: string,
  moment: ThreadMoment,
): Promise<readonly string[]> {
  const { runs, saved: last } = moment;
  const event =
    last?.head === head
      ? (await readPage(history, threadId, last.version, 1))[0]
      : await findSaving(history, threadId, head, moment.version);
  const runId = event?.type === 'CheckpointSaved' ? event.data.runId : undefined;
  return nodesAfter(history, threadId, event, runs.find((run) => run.runId === runId)?.graphId ?? '');
}

const PAGE_EVENTS = 500;

/** After a rollback the head is that of an earlier event. A copied head was saved in another thread. */
async function findSaving(history: History, threadId: string, head: string, version: number) {
  for (let from = version; from > 0; from -= PAGE_EVENTS) {
    const first = Math.max(1, from - PAGE_EVENTS + 1);
    const page = await readPage(history, threadId, first, from - first + 1);
    const found = page.findLast((event) => savedHeadOf(event) === head);
    if (found !== undefined) return found;
  }
  return undefined;
}

const readPage = (history: History, threadId: string, from: number, limit: number) =>
  history.readStream(threadStream(threadId), from, limit) as Promise<Recorded<ThreadEvent>[]>;
