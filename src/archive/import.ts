/**
 * Brings an exported thread into a log. D1 Its events go through a command of the thread.
 *
 * Payloads come first, in commits of bounded size. No client finds them: texts of checkpoints lie under a storage key,
 * and the contents of runs under the ids of runs that are not there. One commit of all events makes the thread, which
 * is complete then. When the import breaks, its payloads are erased; when the process breaks, the next start does that.
 */
import { commit } from '../actors/aggregate.ts';
import { eraseImports } from '../actors/broken-imports.ts';
import { lastFrames } from '../actors/last-frames.ts';
import type { Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { OnProgress } from '../kernel/progress.ts';
import type { EventLog } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import { threadStream, type ThreadEvent, type Ttl } from '../thread/events.ts';
import { importEnds } from '../thread/import-decide.ts';
import { evolve, initial, isLiving } from '../thread/state.ts';
import { costOf, openBatches } from './batches.ts';
import { readEvent, type Inspected, type PastEvent } from './inspect.ts';
import { kindOf } from './kinds.ts';
import { idUnder, KEEP_IDS, renamed, type Rename } from './new-ids.ts';
import type { ExportedFile } from './read.ts';

export interface ImportInto {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly ids: Ids;
}

export interface ImportOptions {
  /** The ids under which the thread and its runs come in (new-ids.ts). */
  readonly rename: Rename;
  /** Whole metadata of the thread. */
  readonly metadata: JsonObject;
  /** Its time to live begins with the import. */
  readonly ttl?: Ttl | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** `ok` is false when a thread or run with such an id exists or was created meanwhile; nothing of the file is left then. */
export type Imported = { readonly ok: true; readonly threadId: string } | { readonly ok: false };

/** Throws when the import broke. One import at a time: ids are looked up before they are taken. */
export async function importThread(
  { log, threads, ids }: ImportInto,
  file: ExportedFile,
  inspected: Inspected,
  options: ImportOptions,
): Promise<Imported> {
  const { rename, metadata, ttl } = options;
  const threadId = idUnder(rename, inspected.threadId);
  const runIds = [...inspected.runIds].map((runId) => idUnder(rename, runId));
  const expectedVersion = await log.streamVersion(threadStream(threadId));
  if (isLiving(await threads.read(threadId)) || (await log.views.runs.taken(runIds)).length > 0)
    return { ok: false };
  const storageKey = ids.uuid();
  const write = async (payloads: readonly PayloadWrite[]): Promise<void> => {
    if (payloads.length > 0)
      await commit(log, { commandId: ids.uuid(), isPast: true, appends: [], payloads });
  };
  const erase = (): Promise<void> => eraseImports(log, ids, (open) => open.storageKey === storageKey);
  await eraseImports(log, ids, (open) => open.threadId === threadId);
  try {
    await write([{ kind: 'begin-import', storageKey, threadId }]);
    const past = await bring(write, file, inspected, { ...options, storageKey, threadId });
    const events = past.map(({ event }) => event);
    const { program, exportedAt, assistants, libraries } = inspected.header;
    const origin = {
      ...{ threadId: inspected.threadId, program, exportedAt, digest: file.digest },
      ...{ assistants, libraries },
    };
    const done = await threads.dispatch(
      threadId,
      [{ type: 'ImportThread', events, threadId, metadata, ...(ttl && { ttl }), origin }],
      {
        expectedVersion,
        past: { times: past.map(({ at }) => at) },
        payloads: [...(await closing(log, events)), { kind: 'complete-import', storageKey, threadId }],
      },
    );
    if (!done.ok) await erase();
    return done.ok ? { ok: true, threadId } : { ok: false };
  } catch (error) {
    await erase().catch((failure: unknown) => {
      throw new AggregateError(
        [error, failure],
        `the import of thread ${threadId} broke, and so did its end`,
      );
    });
    throw error;
  }
}

/** Writes all payloads and returns the events. */
async function bring(
  write: (payloads: readonly PayloadWrite[]) => Promise<void>,
  file: ExportedFile,
  inspected: Inspected,
  {
    rename,
    onProgress,
    storageKey,
    threadId,
  }: ImportOptions & { readonly storageKey: string; readonly threadId: string },
): Promise<PastEvent[]> {
  const { bytes: total } = inspected;
  const batches = openBatches();
  const events: PastEvent[] = [];
  const onBytes = (done: number): void => onProgress?.({ phase: 'importing', done, total, unit: 'bytes' });
  for await (const record of file.records(onBytes)) {
    if (record.kind === 'payload') {
      const { of, head, content } = renamed(record, rename);
      const { isOfRun, toWrite } = kindOf(of);
      const added = toWrite(head, content, isOfRun ? threadId : storageKey);
      const full = batches.add(added, costOf(content, Number(head['bytes'])));
      if (full !== undefined) await write(full);
    } else if (record.kind === 'event')
      events.push(toLasting(underIds(readEvent(record, inspected.threadId, file.refusal), rename)));
  }
  await write(batches.take());
  return events;
}

/** Returns the frames that close runs which end without an executor. */
async function closing(log: EventLog, events: readonly ThreadEvent[]): Promise<readonly PayloadWrite[]> {
  const frames: PayloadWrite[] = [];
  for (const { type, data } of importEnds(events.reduce(evolve, initial))) {
    if (type !== 'RunCompleted' || data.attempt === 0) continue;
    const created = events.find(
      (event) => event.type === 'RunCreated' && event.data.runId === data.runId,
    ) as ThreadEvent & { type: 'RunCreated' };
    frames.push(...(await lastFrames(log, data, created.data.kwargs)));
  }
  return frames;
}

/** The thread of a stateless run, which goes with it, stays here. */
const toLasting = (past: PastEvent): PastEvent =>
  past.event.type === 'ThreadCreated'
    ? { ...past, event: { ...past.event, data: { ...past.event.data, temporary: false } } }
    : past;

function underIds(past: PastEvent, rename: Rename): PastEvent {
  if (rename === KEEP_IDS) return past;
  return { ...past, event: JSON.parse(rename(JSON.stringify(past.event))) as ThreadEvent };
}
