/**
 * One thread's history: its facts with the state before and after each, the attempts of its webhooks, and the slots of
 * crons that its runs were for.
 */
import { cronStream, type CronEvent } from '../cron/events.ts';
import { deliveryStream } from '../delivery/events.ts';
import { maskUrl } from '../delivery/mask.ts';
import { toTimestamp } from '../kernel/clock.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { firstFrames } from '../kernel/stack.ts';
import type { Recorded } from '../log/events.ts';
import type { History } from '../log/sqlite/history.ts';
import { listRuns, readRun } from '../projections/run-queries.ts';
import { getThread } from '../projections/thread-queries.ts';
import { threadStream, type Origin, type ThreadEvent, type ThreadEventMap } from '../thread/events.ts';
import { createCronFold } from './cron-fold.ts';
import { createFold } from './fold.ts';

export interface Entry {
  readonly position: number;
  readonly time: string;
  readonly type: string;
  /** Machine states; null for a fact of another stream. */
  readonly before: string | null;
  readonly after: string | null;
  readonly summary: string;
  /** Of a run's end: milliseconds since the attempt began. */
  readonly tookMs?: number;
  readonly data: Json;
}

const PAGE = 500;
const SHOWN_FRAMES = 3;

function readWhole(history: History, stream: string): Recorded[] {
  const events: Recorded[] = [];
  for (;;) {
    const page = history.readStream(stream, (events.at(-1)?.meta.version ?? 0) + 1, PAGE);
    if (page.length === 0) return events;
    events.push(...page);
  }
}

/** In order of position, up to and including `to`. */
export function timelineOf(history: History, threadId: string, to = Infinity): Entry[] {
  const fold = createFold();
  let startedAt = 0;
  const own = readWhole(history, threadStream(threadId)).map((event) => {
    const { before, after } = fold.step(event as Recorded<ThreadEvent>);
    const entry = toEntry(event, before.status, after.status);
    if (event.type === 'RunStarted') startedAt = event.meta.at;
    const isEnd = event.type === 'RunCompleted' && event.data.attempt > 0;
    return isEnd ? { ...entry, tookMs: event.meta.at - startedAt } : entry;
  });
  const deliveries = history.rows
    .all<{ delivery_id: string }>('SELECT delivery_id FROM deliveries WHERE thread_id = @threadId', {
      threadId,
    })
    .flatMap((row) => readWhole(history, deliveryStream(row.delivery_id)))
    .map((event) => toEntry(event, null, null));
  const slots = history.rows
    .all<{ cron_id: string }>(
      `SELECT metadata ->> 'cron_id' AS cron_id FROM runs
       WHERE thread_id = @threadId AND json_type(metadata, '$.cron_id') = 'text'
       UNION SELECT cron_id FROM crons WHERE thread_id = @threadId`,
      { threadId },
    )
    .flatMap((row) => readWhole(history, cronStream(row.cron_id)))
    .filter((event) => event.type === 'CronFired' && event.data.threadId === threadId)
    .map((event) => toEntry(event, null, null));
  return [...own, ...deliveries, ...slots]
    .filter((entry) => entry.position <= to)
    .sort((a, b) => a.position - b.position);
}

/** What a cron was, and what it did, in order. */
export function cronTimelineOf(history: History, cronId: string): Entry[] {
  const fold = createCronFold();
  return readWhole(history, cronStream(cronId)).map((event) => {
    const before = fold.state.status;
    fold.step(event as Recorded<CronEvent>);
    return toEntry(event, before, fold.state.status);
  });
}

const toEntry = (event: Recorded, before: string | null, after: string | null): Entry => ({
  position: event.meta.position,
  time: toTimestamp(event.meta.at),
  type: event.type,
  before,
  after,
  summary: summarise(event),
  data: withoutTokens(event),
});

/** The secrets of receivers, which their URLs hold, are shown nowhere. */
function withoutTokens(event: Recorded): Json {
  const data = event.data as unknown as JsonObject;
  if (event.type === 'WebhookOwed') return { ...data, url: maskUrl(event.data.url) };
  if (event.type !== 'RunCreated' || event.data.kwargs.webhook === undefined) return data;
  return {
    ...data,
    kwargs: { ...(data['kwargs'] as JsonObject), webhook: maskUrl(event.data.kwargs.webhook) },
  };
}

function summarise(event: Recorded): string {
  switch (event.type) {
    case 'RunCreated':
      return `run ${event.data.runId} of ${event.data.graphId} (${event.data.strategy})`;
    case 'RunStarted':
      return `run ${event.data.runId} attempt ${event.data.attempt}`;
    case 'RunRequeued':
      return `run ${event.data.runId} attempt ${event.data.attempt}: ${event.data.reason}`;
    case 'RunCancelRequested':
      return `run ${event.data.runId} ${event.data.action}: ${event.data.reason}`;
    case 'CheckpointSaved': {
      const { checkpointId, ns, step, source } = event.data;
      return `checkpoint ${checkpointId} step ${step} (${source})${ns === '' ? '' : ` in ${ns}`}`;
    }
    case 'StateUpdated': {
      const { updateId, checkpoints, head } = event.data;
      return `update ${updateId}: ${checkpoints.length} checkpoints, head ${head ?? 'none'}`;
    }
    case 'RunCompleted':
      return `run ${event.data.runId} ${outcomeText(event.data.outcome)}`;
    case 'ThreadCopied':
      return `copy of ${event.data.from}`;
    case 'ThreadPruned':
      return `pruned to ${event.data.kept.length} checkpoints`;
    case 'RunDeleted':
      return `run ${event.data.runId} deleted, head ${event.data.head ?? 'none'}`;
    case 'CronCreated':
    case 'CronUpdated': {
      const { cronId, schedule, timezone, nextAt } = event.data;
      return `cron ${cronId} "${schedule}" ${timezone ?? 'UTC'}, next ${slotText(nextAt)}`;
    }
    case 'CronFired': {
      const { cronId, slot, since, runId } = event.data;
      return `cron ${cronId} slot ${slotText(slot)}${sinceText(since)}: run ${runId}`;
    }
    case 'CronSlotPassed': {
      const { cronId, slot, since, reason } = event.data;
      return `cron ${cronId} slot ${slotText(slot)}${sinceText(since)}: ${reason}`;
    }
    case 'WebhookOwed':
      return `webhook ${event.data.deliveryId} for run ${event.data.runId}`;
    case 'WebhookDelivered':
      return `webhook ${event.data.deliveryId} attempt ${event.data.attempt}: ${event.data.status} in ${event.data.ms} ms`;
    case 'WebhookAttemptFailed':
      return `webhook ${event.data.deliveryId} attempt ${event.data.attempt}: ${event.data.error}`;
    case 'WebhookRedeliveryRequested':
      return `webhook ${event.data.deliveryId} to be sent again`;
    case 'WebhookBodyErased':
      return `webhook ${event.data.deliveryId}: its body is gone`;
    case 'WebhookOrphaned':
      return `webhook ${event.data.deliveryId}: what it reports is deleted`;
    default:
      return '';
  }
}

const slotText = (at: number | null): string => (at === null ? 'none' : toTimestamp(at));
const sinceText = (since: number | null): string =>
  since === null ? '' : ` and all since ${toTimestamp(since)}`;

function outcomeText(outcome: (ThreadEvent & { type: 'RunCompleted' })['data']['outcome']): string {
  if (outcome.kind === 'error') return `error ${placeOf(outcome.origin)}${outcome.error}: ${outcome.message}`;
  if (outcome.kind === 'success' && outcome.next.length > 0)
    return `success, paused before ${outcome.next.join(', ')}`;
  return outcome.kind;
}

const placeOf = ({ node, step }: Origin = {}): string =>
  node === undefined ? '' : `in node "${node}"${step === undefined ? '' : ` step ${step}`}: `;

/** The innermost frames of the code that failed, one a line; none for other facts. */
export function traceOf({ type, data }: Entry): string[] {
  if (type !== 'RunCompleted') return [];
  const { outcome } = data as unknown as ThreadEventMap['RunCompleted'];
  return outcome.kind === 'error' ? firstFrames(outcome.origin?.stack ?? '', SHOWN_FRAMES) : [];
}

/** The thread as it was once `to` had happened, or undefined when it did not exist then or is purged. */
export async function stateAt(
  history: History,
  threadId: string,
  to: number,
): Promise<JsonObject | undefined> {
  const events = readWhole(history, threadStream(threadId)).filter(({ meta }) => meta.position <= to);
  const fold = createFold();
  for (const event of events) fold.step(event as Recorded<ThreadEvent>);
  const past = history.rowsOf(events);
  try {
    const thread = await getThread(past.rows, threadId);
    if (thread === undefined) return undefined;
    const ids = await listRuns(past.rows, { threadId, limit: 1_000_000, offset: 0 });
    const runs = ids.flatMap((runId) => readRun(past.rows, runId) ?? []);
    return {
      thread_id: threadId,
      position: to,
      status: thread.status,
      machine: fold.state as unknown as Json,
      metadata: thread.metadata,
      values:
        thread.head === null
          ? null
          : ((await history.payloads.values(threadId, thread.head))?.parse() ?? null),
      runs: runs.map(({ runId, status, attempt }) => ({ run_id: runId, status, attempt })),
    };
  } finally {
    past.close();
  }
}
