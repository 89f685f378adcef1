/**
 * Checks a log against its invariants and reports the first position that breaks one.
 *
 * L2 Versions are dense. D2 Every machine accepts all events of its stream. P2 Rebuilt rows equal the live ones. P3
 * Every thread's head checkpoint exists. Every thread has a snapshot, and snapshots of threads, assistants and crons
 * equal their fold.
 */
import { canonical, type Json } from '../kernel/json.ts';
import type { OnProgress } from '../kernel/progress.ts';
import { isItemStream } from '../item/events.ts';
import { UnreadableEvent, type Recorded } from '../log/events.ts';
import type { History } from '../log/sqlite/history.ts';
import type { RowDifference } from '../log/sqlite/row-comparison.ts';
import { threadStream } from '../thread/events.ts';
import { checkPayloads } from './payload-checks.ts';
import { openStreamFold, type StreamFold } from './stream-fold.ts';

export interface Finding {
  readonly position: number | undefined;
  readonly problem: string;
}

export interface Verified {
  readonly events: number;
  readonly streams: number;
  readonly finding: Finding | undefined;
}

/** Events between two reports of progress. */
const PROGRESS_EVENTS = 1_000;
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
  readonly fold: StreamFold | undefined;
}

/** Reports damage of the log as a finding and never rejects because of it. */
export async function verify(history: History, onProgress: OnProgress = () => undefined): Promise<Verified> {
  try {
    return await check(history, onProgress);
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    return { events: 0, streams: 0, finding: { position: error.position, problem: error.message } };
  }
}

async function check(history: History, onProgress: OnProgress): Promise<Verified> {
  const ends = new Map<string, StreamEnd>();
  let events = 0;
  const result = (finding?: Finding): Verified => ({ events, streams: ends.size, finding });
  const total = history.eventCount();
  const report = (phase: string, done: number): void => onProgress({ phase, done, total, unit: 'events' });
  report('checking the file', 0);
  const damage = history.damage();
  if (damage !== undefined) return result({ position: undefined, problem: `the file is damaged: ${damage}` });

  let found: Finding | undefined;
  // One pass serves the folds and the rows: most of the time of each goes into reading.
  const difference = history.firstDifference((event) => {
    if (events % PROGRESS_EVENTS === 0) report('checking events', events);
    events += 1;
    found = take(event, ends);
    return found === undefined;
  });
  report('checking payloads', events);
  return result(
    found ??
      checkSnapshots(history, ends) ??
      (difference && toFinding(difference)) ??
      checkHeads(history) ??
      checkPayloads(history) ??
      (await checkValues(history)),
  );
}

function take(event: Recorded, ends: Map<string, StreamEnd>): Finding | undefined {
  const { stream, version, position } = event.meta;
  let end = ends.get(stream);
  if (end === undefined) ends.set(stream, (end = { version: 0, position: 0, fold: openStreamFold(stream) }));
  const purged = end.version === 0 && (TOMBSTONES.has(event.type) || isItemStream(stream));
  if (isItemStream(stream) && !purged)
    return { position, problem: `${stream} keeps facts that a later one purged` };
  if (!purged && version !== end.version + 1)
    return { position, problem: `${stream} goes from version ${end.version} to ${version}` };
  end.version = version;
  end.position = position;
  const problem = end.fold?.step(event);
  return problem === undefined ? undefined : { position, problem: `${stream}: ${event.type} ${problem}` };
}

function checkSnapshots(history: History, ends: Map<string, StreamEnd>): Finding | undefined {
  const missing = new Set([...ends.keys()].filter((stream) => stream.startsWith('thread-')));
  for (const { stream, version, state } of history.snapshots()) {
    missing.delete(stream);
    const end = ends.get(stream);
    const position = end?.position;
    if (end === undefined || version !== end.version)
      return { position, problem: `${stream}: the snapshot is of version ${version}` };
    const folded = end.fold?.state as Json | undefined;
    // Texts of one program version are equal, and quicker to compare.
    if (state !== JSON.stringify(folded) && canonical(JSON.parse(state) as Json) !== canonical(folded))
      return { position, problem: `${stream}: the snapshot differs from the fold of its events` };
  }
  for (const stream of missing)
    return { position: ends.get(stream)?.position, problem: `${stream}: its snapshot is missing` };
  return undefined;
}

function toFinding({ table, key, position, live, rebuilt }: RowDifference): Finding {
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
