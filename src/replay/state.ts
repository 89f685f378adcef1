/** R2 Returns the state of one thread at a position of the log. */
import { toTimestamp } from '../kernel/clock.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Recorded } from '../log/events.ts';
import type { History } from '../log/sqlite/history.ts';
import { listRuns, readRun } from '../projections/run-queries.ts';
import { getThread } from '../projections/thread-queries.ts';
import { threadStream, type ThreadEvent } from '../thread/events.ts';
import { createFold } from './fold.ts';
import { openSteps } from './steps.ts';
import { readWhole } from './timeline.ts';

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

/** Returns undefined when the thread does not exist at the position or is purged. */
export async function stateAt(
  history: History,
  threadId: string,
  to: number,
): Promise<PastState | undefined> {
  const all = readWhole(history, threadStream(threadId)) as Recorded<ThreadEvent>[];
  const events = all.filter(({ meta }) => meta.position <= to);
  const fold = createFold();
  for (const event of events) fold.step(event);
  const past = history.rowsOf(events);
  try {
    const thread = await getThread(past.rows, threadId);
    if (thread === undefined) return undefined;
    const ids = await listRuns(past.rows, { threadId, limit: 1_000_000, offset: 0 });
    const runs = ids.flatMap((runId) => readRun(past.rows, runId) ?? []);
    return {
      thread_id: threadId,
      position: to,
      time: toTimestamp(events.at(-1)!.meta.at),
      graph_id: runs[0]?.graphId ?? null,
      status: thread.status,
      machine: fold.state as unknown as Json,
      metadata: thread.metadata,
      values:
        thread.head === null
          ? null
          : ((await history.payloads.values(threadId, thread.head))?.parse() ?? null),
      runs: runs.map(({ runId, status, attempt }) => ({ run_id: runId, status, attempt })),
      next: await nextOf(history, threadId, all, thread.head),
      interrupts: thread.interrupts,
      error: thread.error,
    };
  } finally {
    past.close();
  }
}

/** Returns the nodes that ran after the checkpoint, or have yet to run. */
async function nextOf(
  history: History,
  threadId: string,
  events: readonly Recorded<ThreadEvent>[],
  head: string | null,
): Promise<readonly string[]> {
  const at = events.findLastIndex(
    ({ type, data }) =>
      (type === 'CheckpointSaved' && data.ns === '' && data.checkpointId === head) ||
      (type === 'StateUpdated' && data.head === head),
  );
  const event = events[at];
  if (event?.type === 'StateUpdated') return event.data.next;
  return (await (await openSteps(history, threadId, events))(at))?.next ?? [];
}
