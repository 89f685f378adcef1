/**
 * Checks the facts of a log: the file, every event and snapshot, and the payloads. Rows are checked in `verify.ts`.
 *
 * L2 Versions are dense. D2 Every machine accepts all events of its stream. P3 Every thread's head checkpoint exists.
 * Every thread has a snapshot, and snapshots of threads, assistants and crons equal their fold.
 */
import { canonical, type Json } from '../../kernel/json.ts';
import { isItemStream } from '../../item/events.ts';
import { UnreadableEvent, type Recorded } from '../../store/port/events.ts';
import type { Finding, History } from '../../store/port/past.ts';
import { foldStream } from '../fold.ts';

export interface Facts {
  readonly events: number;
  readonly streams: number;
  /** Finding in the file, the events or the snapshots. */
  readonly finding: Finding | undefined;
  /** Finding in heads, payloads or values. */
  readonly payloadFinding: Finding | undefined;
}

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
  readonly fold: ReturnType<typeof foldStream>;
}

/** `passEvents` passes all events to `take`, in order, until it returns false. */
export async function checkFacts(
  history: History,
  passEvents: (take: (event: Recorded) => boolean) => void,
): Promise<Facts> {
  const ends = new Map<string, StreamEnd>();
  let events = 0;
  const broken = (finding: Finding): Facts => ({
    ...{ events, streams: ends.size },
    finding,
    payloadFinding: undefined,
  });
  const damage = history.damage();
  if (damage !== undefined) return broken({ position: undefined, problem: `the file is damaged: ${damage}` });
  let found: Finding | undefined;
  try {
    passEvents((event) => {
      events += 1;
      found = take(event, ends);
      return found === undefined;
    });
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    found = { position: error.position, problem: error.message };
  }
  found ??= checkSnapshots(history, ends);
  if (found !== undefined) return broken(found);
  const payloadFinding = history.payloadFinding() ?? (await checkValues(history));
  return { events, streams: ends.size, finding: undefined, payloadFinding };
}

function take(event: Recorded, ends: Map<string, StreamEnd>): Finding | undefined {
  const { stream, version, position } = event.meta;
  let end = ends.get(stream);
  if (end === undefined) ends.set(stream, (end = { version: 0, position: 0, fold: foldStream(stream) }));
  const purged = end.version === 0 && (TOMBSTONES.has(event.type) || isItemStream(stream));
  if (isItemStream(stream) && !purged)
    return { position, problem: `${stream} keeps facts that a later one purged` };
  if (!purged && version !== end.version + 1)
    return { position, problem: `${stream} goes from version ${end.version} to ${version}` };
  end.version = version;
  end.position = position;
  const step = end.fold?.step(event);
  if (step?.impossible !== true) return undefined;
  return { position, problem: `${stream}: ${event.type} cannot happen in "${step.before.status}"` };
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

/** Checks that values stored as deltas can be restored. */
async function checkValues(history: History): Promise<Finding | undefined> {
  for (const { threadId, head, position } of await history.past.heads())
    try {
      (await history.payloads.values(threadId, head))?.parse();
    } catch (error) {
      return { position, problem: `thread ${threadId}: its values cannot be read: ${String(error)}` };
    }
  return undefined;
}
