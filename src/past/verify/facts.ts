/**
 * Checks the facts of a log: the file, every event and snapshot, and the payloads. Rows are checked in `verify.ts`.
 *
 * L2 Versions are dense. D2 Every machine accepts all events of its stream. P3 Every thread's head checkpoint exists.
 * Snapshots equal the fold of their streams' events up to their versions.
 */
import { canonical, type Json } from '../../kernel/json.ts';
import { isItemStream } from '../../item/events.ts';
import { UnreadableEvent, type Recorded } from '../../store/port/events.ts';
import type { Finding, History, OnEvents, StoredSnapshot } from '../../store/port/past.ts';
import { foldStream } from '../fold.ts';

export interface Facts {
  readonly events: number;
  readonly streams: number;
  /** Finding in the file, the events or the snapshots. */
  readonly finding: Finding | undefined;
  /** Finding in payloads or values. */
  readonly payloadFinding: Finding | undefined;
}

/** First event of a purged stream. */
const TOMBSTONES: ReadonlySet<string> = new Set([
  'ThreadDeleted',
  'AssistantDeleted',
  'CronDeleted',
  'WebhookForgotten',
]);

/** The stream that is read. */
interface Current {
  readonly stream: string;
  readonly fold: ReturnType<typeof foldStream>;
  /** Not met yet. */
  snapshot: StoredSnapshot | undefined;
  version: number;
  position: number;
}

/** `passEvents` passes all events to `take` page by page, in order of stream and version, until it returns false. */
export async function checkFacts(
  history: History,
  passEvents: (take: OnEvents) => Promise<void>,
): Promise<Facts> {
  let events = 0;
  let streams = 0;
  let current: Current | undefined;
  const broken = (finding: Finding): Facts => ({
    ...{ events, streams },
    finding,
    payloadFinding: undefined,
  });
  const damage = await history.damage();
  if (damage !== undefined) return broken({ position: undefined, problem: `the file is damaged: ${damage}` });
  const content = history.checkContent();
  let found: Finding | undefined;
  try {
    await passEvents(async (page) => {
      for (const event of page) {
        events += 1;
        const { stream } = event.meta;
        if (stream !== current?.stream) {
          found = current && checkSnapshot(current);
          streams += 1;
          const snapshot = await history.snapshot(stream);
          current = { stream, fold: foldStream(stream), snapshot, version: 0, position: 0 };
        }
        found ??= take(event, current);
        if (found !== undefined) return false;
      }
      await content.add(page);
      return true;
    });
    found ??= current && checkSnapshot(current);
  } catch (error) {
    if (!(error instanceof UnreadableEvent)) throw error;
    found = { position: error.position, problem: error.message };
  }
  if (found !== undefined) return broken(found);
  const payloadFinding = (await content.finding()) ?? (await checkValues(history));
  return { events, streams, finding: undefined, payloadFinding };
}

function take(event: Recorded, current: Current): Finding | undefined {
  const { stream, version, position } = event.meta;
  const purged = current.version === 0 && (TOMBSTONES.has(event.type) || isItemStream(stream));
  if (isItemStream(stream) && !purged)
    return { position, problem: `${stream} keeps facts that a later one purged` };
  if (!purged && version !== current.version + 1)
    return { position, problem: `${stream} goes from version ${current.version} to ${version}` };
  current.version = version;
  current.position = position;
  const step = current.fold?.step(event);
  if (step?.impossible === true)
    return { position, problem: `${stream}: ${event.type} cannot happen in "${step.before.status}"` };
  if (current.snapshot?.version !== version) return undefined;
  const { state } = current.snapshot;
  current.snapshot = undefined;
  const folded = step?.after as Json | undefined;
  // Texts of one program version are equal, and quicker to compare.
  if (state === JSON.stringify(folded) || canonical(JSON.parse(state) as Json) === canonical(folded))
    return undefined;
  return { position, problem: `${stream}: the snapshot differs from the fold of its events` };
}

/** Call at the stream's end. */
function checkSnapshot({ stream, snapshot, position }: Current): Finding | undefined {
  if (snapshot === undefined) return undefined;
  return { position, problem: `${stream}: the snapshot is of version ${snapshot.version}` };
}

/** Threads that are checked at once. */
const PAGE_HEADS = 256;

/** Checks that each thread's head checkpoint is there, and that its values, stored as deltas, can be restored. */
async function checkValues({ past, payloads }: History): Promise<Finding | undefined> {
  for (let after = ''; ;) {
    const heads = await past.heads(after, PAGE_HEADS);
    for (const of of heads) {
      const { threadId, head } = of;
      try {
        const values = await payloads.values(threadId, head);
        if (values === undefined)
          return {
            position: await past.savedAt(of),
            problem: `thread ${threadId}: its head checkpoint ${head} is missing`,
          };
        values.parse();
      } catch (error) {
        const position = await past.savedAt(of);
        return { position, problem: `thread ${threadId}: its values cannot be read: ${String(error)}` };
      }
    }
    if (heads.length < PAGE_HEADS) return undefined;
    after = heads.at(-1)!.threadId;
  }
}
