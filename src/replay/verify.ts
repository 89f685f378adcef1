/**
 * Checks a log against its invariants and reports the first position that breaks one.
 *
 * L2 Versions are dense. D2 Every machine accepts all events of its stream. P2 Rebuilt rows equal the live ones. P3
 * Every thread's head checkpoint exists. Every thread has a snapshot, and snapshots of threads, assistants and crons
 * equal their fold.
 */
import { isAssistantStream } from '../assistant/events.ts';
import { isCronStream } from '../cron/events.ts';
import { canonical, type Json } from '../kernel/json.ts';
import { UnreadableEvent, type Recorded } from '../log/events.ts';
import { isItemStream } from '../item/events.ts';
import type { History } from '../log/sqlite/history.ts';
import { threadStream } from '../thread/events.ts';
import { createAssistantFold, isAssistantEvent } from './assistant-fold.ts';
import { createCronFold, isCronEvent } from './cron-fold.ts';
import { createFold, isThreadEvent } from './fold.ts';
import { checkPayloads } from './payload-checks.ts';

export interface Finding {
  readonly position: number | undefined;
  readonly problem: string;
}

export interface Verified {
  readonly events: number;
  readonly streams: number;
  readonly finding: Finding | undefined;
}

const PAGE_EVENTS = 500;
/** First event of a purged stream. */
const TOMBSTONES: ReadonlySet<string> = new Set([
  'ThreadDeleted',
  'AssistantDeleted',
  'CronDeleted',
  'WebhookForgotten',
]);

interface StreamEnd {
  version: number;
  position: number;
  readonly fold: ReturnType<typeof createFold>;
  readonly assistant: ReturnType<typeof createAssistantFold>;
  readonly cron: ReturnType<typeof createCronFold>;
}

/** Reports damage of the log as a finding and never rejects because of it. */
export async function verify(history: History): Promise<Verified> {
  try {
    return await check(history);
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    return { events: 0, streams: 0, finding: { position: error.position, problem: error.message } };
  }
}

async function check(history: History): Promise<Verified> {
  const ends = new Map<string, StreamEnd>();
  let events = 0;
  const result = (finding?: Finding): Verified => ({ events, streams: ends.size, finding });
  const damage = history.damage();
  if (damage !== undefined) return result({ position: undefined, problem: `the file is damaged: ${damage}` });

  for (let after = 0, page = history.readAll(after, PAGE_EVENTS); page.length > 0;) {
    for (const event of page) {
      events += 1;
      const finding = take(event, ends);
      if (finding !== undefined) return result(finding);
    }
    after = page.at(-1)!.meta.position;
    page = history.readAll(after, PAGE_EVENTS);
  }
  return result(
    checkSnapshots(history, ends) ??
      checkRows(history) ??
      checkHeads(history) ??
      checkPayloads(history) ??
      (await checkValues(history)),
  );
}

function take(event: Recorded, ends: Map<string, StreamEnd>): Finding | undefined {
  const { stream, version, position } = event.meta;
  const end = ends.get(stream) ?? {
    version: 0,
    position: 0,
    fold: createFold(),
    assistant: createAssistantFold(),
    cron: createCronFold(),
  };
  ends.set(stream, end);
  const purged = end.version === 0 && (TOMBSTONES.has(event.type) || isItemStream(stream));
  if (isItemStream(stream) && !purged)
    return { position, problem: `${stream} keeps facts that a later one purged` };
  if (!purged && version !== end.version + 1)
    return { position, problem: `${stream} goes from version ${end.version} to ${version}` };
  end.version = version;
  end.position = position;
  if (isAssistantEvent(event) && !end.assistant.step(event))
    return { position, problem: `${stream}: ${event.type} cannot follow what was before` };
  if (isCronEvent(event) && !end.cron.step(event))
    return { position, problem: `${stream}: ${event.type} cannot follow what was before` };
  if (!isThreadEvent(event)) return undefined;
  const step = end.fold.step(event);
  return step.impossible
    ? { position, problem: `${stream}: ${event.type} cannot happen in "${step.before.status}"` }
    : undefined;
}

function checkSnapshots(history: History, ends: Map<string, StreamEnd>): Finding | undefined {
  const missing = new Set([...ends.keys()].filter((stream) => stream.startsWith('thread-')));
  for (const { stream, snapshot } of history.snapshots()) {
    missing.delete(stream);
    const end = ends.get(stream);
    const position = end?.position;
    if (end === undefined || snapshot.version !== end.version)
      return { position, problem: `${stream}: the snapshot is of version ${snapshot.version}` };
    if (canonical(snapshot.state) !== canonical(stateOf(stream, end)))
      return { position, problem: `${stream}: the snapshot differs from the fold of its events` };
  }
  for (const stream of missing)
    return { position: ends.get(stream)?.position, problem: `${stream}: its snapshot is missing` };
  return undefined;
}

function stateOf(stream: string, { fold, assistant, cron }: StreamEnd): Json {
  if (isCronStream(stream)) return cron.state as unknown as Json;
  return (isAssistantStream(stream) ? assistant.state : fold.state) as unknown as Json;
}

function checkRows(history: History): Finding | undefined {
  const difference = history.firstDifference();
  if (difference === undefined) return undefined;
  const { table, key, position, live, rebuilt } = difference;
  const sides = `live ${JSON.stringify(live ?? null)}, rebuilt ${JSON.stringify(rebuilt ?? null)}`;
  return { position, problem: `${table} ${key} differs: ${sides}` };
}

function checkHeads(history: History): Finding | undefined {
  const gone = history.rows.get<{ thread_id: string; head: string }>(
    `SELECT thread_id, head FROM threads WHERE head IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM checkpoints AS saved WHERE saved.thread_id = threads.thread_id AND ns = ''
         AND checkpoint_name IN (head, unhex(replace(head, '-', '')))) ORDER BY thread_id`,
  );
  if (gone === undefined) return undefined;
  const { thread_id, head } = gone;
  return {
    position: savedAt(history, thread_id, head),
    problem: `thread ${thread_id}: its head checkpoint ${head} is missing`,
  };
}

/** Checks that values stored as deltas can be restored. */
async function checkValues(history: History): Promise<Finding | undefined> {
  const heads = history.rows.all<{ thread_id: string; head: string }>(
    'SELECT thread_id, head FROM threads WHERE head IS NOT NULL ORDER BY thread_id',
  );
  for (const { thread_id, head } of heads)
    try {
      (await history.payloads.values(thread_id, head))?.parse();
    } catch (error) {
      return {
        position: savedAt(history, thread_id, head),
        problem: `thread ${thread_id}: its values cannot be read: ${String(error)}`,
      };
    }
  return undefined;
}

const savedAt = (history: History, threadId: string, checkpointId: string): number | undefined =>
  history.rows.get<{ position: number }>(
    `SELECT position FROM events WHERE stream = @stream AND type = 'CheckpointSaved'
       AND json_extract(data, '$.checkpointId') = @checkpointId ORDER BY version DESC`,
    { stream: threadStream(threadId), checkpointId },
  )?.position;
