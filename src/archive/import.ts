/**
 * Brings an exported thread into a log. D1 Everything goes through the thread's commands and `log.commit`.
 *
 * The first commit makes the thread under its id, `arriving`: no client sees it. Payloads follow in commits of bounded
 * size, then the events, each commit up to a moment at which no run was open, so that no executor finds one to start.
 * The last commit makes the thread visible. When the import breaks, the thread is deleted as if it had never been; when
 * the process breaks, the next start does that (`arrivals.ts`).
 */
import { commit } from '../actors/aggregate.ts';
import { lastFrames } from '../actors/last-frames.ts';
import type { DispatchOptions, Threads } from '../actors/threads.ts';
import type { Ids } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { OnProgress } from '../kernel/progress.ts';
import type { Recorded } from '../store/port/events.ts';
import type { EventLog } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { ThreadCommand } from '../thread/decide.ts';
import { threadStream, type ThreadEvent, type Ttl } from '../thread/events.ts';
import { evolve, initial, isLiving, type ThreadState } from '../thread/state.ts';
import { abandon } from './arrivals.ts';
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

/** Not ok: a thread or run with such an id is there. Nothing was written. */
export type Imported = { readonly ok: true; readonly threadId: string } | { readonly ok: false };

/** Characters of events after which a commit ends at the next moment without an open run. */
const MAX_EVENT_CHARACTERS = 256 * 1024;

/** Throws when the import broke; the thread is gone then. One import at a time: ids are looked up before they are taken. */
export async function importThread(
  into: ImportInto,
  file: ExportedFile,
  inspected: Inspected,
  options: ImportOptions,
): Promise<Imported> {
  const { log, threads } = into;
  const { rename } = options;
  const threadId = idUnder(rename, inspected.threadId);
  const runIds = [...inspected.runIds].map((runId) => idUnder(rename, runId));
  if (isLiving(await threads.read(threadId)) || (await log.views.runs.taken(runIds)).length > 0)
    return { ok: false };
  const first = toArriving(underIds(inspected.first, rename));
  const begun = await threads.dispatch(
    threadId,
    [{ type: 'ImportEvents', events: [first.event], isLast: false }],
    { past: { times: [first.at] } },
  );
  if (!begun.ok) return { ok: false };
  const arrival = openArrival(into, threadId, begun.events.at(-1)!.meta.version);
  try {
    await bring(arrival, file, inspected, options);
  } catch (error) {
    await abandon(threads, threadId).catch((failure: unknown) => {
      throw new AggregateError(
        [error, failure],
        `the import of thread ${threadId} broke, and so did its end`,
      );
    });
    throw error;
  }
  return { ok: true, threadId };
}

interface Arrival {
  readonly threadId: string;
  payloads(writes: readonly PayloadWrite[]): Promise<void>;
  /** Returns the events of the commit. */
  command(command: ThreadCommand, options: DispatchOptions): Promise<readonly Recorded[]>;
  /** Returns the frames that close a run which ended without an executor. */
  closing(event: Recorded): Promise<readonly PayloadWrite[]>;
}

/** Fails as soon as anything else changes the thread: an administrator may delete all threads meanwhile. */
function openArrival({ log, threads, ids }: ImportInto, threadId: string, from: number): Arrival {
  const stream = threadStream(threadId);
  let version = from;
  const changed = (): Error => new Error(`thread ${threadId} was changed while it was imported`);
  return {
    threadId,
    async payloads(payloads) {
      if (payloads.length === 0) return;
      const appends = [{ stream, expected: version, events: [] }];
      const { kind } = await commit(log, { commandId: ids.uuid(), isPast: true, appends, payloads });
      if (kind !== 'committed') throw changed();
    },
    async command(command, options) {
      const done = await threads.dispatch(threadId, [command], { ...options, expectedVersion: version });
      if (!done.ok) throw changed();
      version += done.events.length;
      return done.events;
    },
    closing: async (event) =>
      event.type === 'RunCompleted' && event.data.attempt > 0 ? lastFrames(log, event.data) : [],
  };
}

async function bring(
  arrival: Arrival,
  file: ExportedFile,
  inspected: Inspected,
  { rename, metadata, ttl, onProgress }: ImportOptions,
): Promise<void> {
  const { threadId } = arrival;
  const { header, bytes: total } = inspected;
  const batches = openBatches();
  const add = async (write: PayloadWrite, cost: number): Promise<void> => {
    const full = batches.add(write, cost);
    if (full !== undefined) await arrival.payloads(full);
  };
  const history = openHistoryOf(arrival);
  const onBytes = (done: number): void => onProgress?.({ phase: 'importing', done, total, unit: 'bytes' });
  for await (const record of file.records(onBytes)) {
    if (record.kind === 'payload') {
      const { of, head, content } = renamed(record, rename);
      await add(kindOf(of).toWrite(head, content, threadId), costOf(content, Number(head['bytes'])));
    } else if (record.kind === 'event') {
      await arrival.payloads(batches.take());
      const past = readEvent(record, inspected.threadId, file.refusal);
      await history.take(underIds(past, rename), record.text.length);
    }
  }
  const ended = await history.end();
  const payloads = (await Promise.all(ended.map(arrival.closing))).flat();
  const { program, exportedAt, assistants, libraries } = header;
  const origin = {
    ...{ threadId: inspected.threadId, program, exportedAt, digest: file.digest },
    ...{ assistants, libraries },
  };
  const finish: ThreadCommand = { type: 'FinishImport', threadId, metadata, ...(ttl && { ttl }), origin };
  await arrival.command(finish, { payloads });
}

/** Commits the events after the first one, many at a time. */
function openHistoryOf(arrival: Arrival) {
  let state: ThreadState = initial;
  let events: ThreadEvent[] = [];
  let times: number[] = [];
  let size = 0;
  async function write(isLast: boolean): Promise<readonly Recorded[]> {
    const sent = events.length;
    const done = await arrival.command({ type: 'ImportEvents', events, isLast }, { past: { times } });
    [events, times, size] = [[], [], 0];
    return done.slice(sent);
  }
  return {
    async take(past: PastEvent, characters: number): Promise<void> {
      const isFirst = state === initial;
      state = evolve(state, past.event);
      if (isFirst) return;
      events.push(toArriving(past).event);
      times.push(past.at);
      size += characters;
      if (size >= MAX_EVENT_CHARACTERS && state.status === 'idle') await write(false);
    },
    /** Returns the ends of runs that were open. */
    end: () => write(true),
  };
}

/** The event as part of a thread that is not complete yet. */
function toArriving({ event, at }: PastEvent): PastEvent {
  switch (event.type) {
    case 'ThreadCreated':
      return { event: { type: event.type, data: { ...event.data, arriving: true } }, at };
    case 'ThreadCopied':
      return { event: { type: event.type, data: { ...event.data, arriving: true } }, at };
    case 'ThreadImported':
      return { event: { type: event.type, data: { ...event.data, past: true } }, at };
    default:
      return { event, at };
  }
}

function underIds(past: PastEvent, rename: Rename): PastEvent {
  if (rename === KEEP_IDS) return past;
  return { ...past, event: JSON.parse(rename(JSON.stringify(past.event))) as ThreadEvent };
}
