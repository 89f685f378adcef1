/**
 * Brings a whole log into one that has no facts. Ids, positions, versions and times stay what they were. Rows and the queue
 * follow from the events.
 */
import { commit } from '../actors/aggregate.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import type { OnProgress } from '../kernel/progress.ts';
import { knownType, readData, type Recorded } from '../store/port/events.ts';
import type { EventLog, KeptReceipt } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import { threadIdOf, type ThreadEvent } from '../thread/events.ts';
import { earliestStart, evolve, initial, type ThreadState } from '../thread/state.ts';
import { costOf, openBatches } from './batches.ts';
import { kindOf } from './kinds.ts';
import { logKindOf, type LogContent } from './log-kinds.ts';
import type { ExportedLog, ReadLogRecord } from './read.ts';

export interface LogImportOptions {
  readonly clock: Clock;
  /** Opens sealed content. Throws when it has no key for it. */
  readonly unseal: (sealed: Uint8Array) => Uint8Array;
  readonly onProgress?: OnProgress;
}

export interface ImportedLog {
  readonly events: number;
  readonly streams: number;
}

type Of<K extends ReadLogRecord['kind']> = Extract<ReadLogRecord, { kind: K }>;

/** Reads all of the file before anything of it is written. Returns the size of its records in bytes. */
export async function checkLog(
  file: ExportedLog,
  { unseal, onProgress }: Omit<LogImportOptions, 'clock'>,
): Promise<number> {
  let bytes = 0;
  const follow = openStreams(file);
  const onBytes = (done: number): void => {
    bytes = done;
    onProgress?.({ phase: 'checking', done, unit: 'bytes' });
  };
  for await (const record of file.records(onBytes)) {
    if (record.kind === 'event') follow(toEvent(record, file));
    if (record.kind === 'content') toContent(record, unseal);
  }
  return bytes;
}

/** `bytes`: what `checkLog` returned. Throws when the log has facts, and when the import broke. */
export async function importLog(
  log: EventLog,
  file: ExportedLog,
  bytes: number,
  { clock, unseal, onProgress }: LogImportOptions,
): Promise<ImportedLog> {
  const ids = randomIds(clock);
  const batches = openBatches();
  const follow = openStreams(file);
  let events: Recorded[] = [];
  let receipts: KeptReceipt[] = [];
  const count = { events: 0, streams: 0 };

  async function add(write: PayloadWrite | undefined, cost: number): Promise<void> {
    const full = batches.add(write, cost);
    if (full !== undefined) await flush(full);
  }

  async function flush(payloads: readonly PayloadWrite[]): Promise<void> {
    const moved = { events, receipts };
    [events, receipts] = [[], []];
    await commit(log, { commandId: ids.uuid(), isPast: true, appends: [], payloads, moved });
  }

  /** The stream before has ended: its thread may have a place in the queue. */
  async function queue(ended: EndedStream | undefined): Promise<void> {
    if (ended === undefined) return;
    count.streams += 1;
    const { threadId, state } = ended;
    const next = threadId === undefined ? undefined : earliestStart(state);
    if (next !== undefined) await add({ kind: 'queue', threadId: threadId!, next }, 0);
  }

  const onBytes = (done: number): void =>
    onProgress?.({ phase: 'importing', done, total: bytes, unit: 'bytes' });
  for await (const record of file.records(onBytes)) {
    if (record.kind === 'payload') {
      const { of, head, content, thread } = record;
      await add(kindOf(of).toWrite(head, content, thread), costOf(content, Number(head['bytes'])));
    } else if (record.kind === 'event') {
      const event = toEvent(record, file);
      await queue(follow(event));
      events.push(event);
      count.events += 1;
      await add(undefined, record.text.length + EVENT_COST);
    } else if (record.kind === 'content') {
      const content = toContent(record, unseal);
      if (content.kind === 'receipt') receipts.push(content);
      await add(content.kind === 'receipt' ? undefined : content, record.content.length + EVENT_COST);
    }
  }
  await queue(follow(undefined));
  await flush(batches.take());
  return count;
}

/** An event's rows cost this much beside its text, in bytes. */
const EVENT_COST = 1_024;

interface EndedStream {
  readonly threadId: string | undefined;
  readonly state: ThreadState;
}

/** Follows the streams of a file. Takes each event, and undefined at the end; returns the stream that has ended with it. */
function openStreams(file: ExportedLog): (event: Recorded | undefined) => EndedStream | undefined {
  let current: { readonly stream: string; version: number; state: ThreadState } | undefined;
  return (event) => {
    const before = current;
    if (event === undefined || event.meta.stream !== before?.stream) {
      current = event && { stream: event.meta.stream, version: event.meta.version - 1, state: initial };
    }
    if (event !== undefined && current !== undefined) {
      const { stream, version } = event.meta;
      if (version !== current.version + 1)
        throw file.refusal(`${stream} goes from version ${current.version} to ${version}`);
      current.version = version;
      if (threadIdOf(stream) !== undefined)
        current.state = folded(current.state, event as ThreadEvent, event, file);
    }
    if (before === undefined || before === current) return undefined;
    return { threadId: threadIdOf(before.stream), state: before.state };
  };
}

function folded(
  state: ThreadState,
  event: ThreadEvent,
  { meta: { stream, version } }: Recorded,
  file: ExportedLog,
): ThreadState {
  try {
    return evolve(state, event);
  } catch (error) {
    throw file.refusal(`${stream}, version ${version}, ${event.type}: ${(error as Error).message}`);
  }
}

/** Also turns an event of an earlier version of the program into what this version knows. */
function toEvent({ head, text }: Of<'event'>, file: ExportedLog): Recorded {
  const { stream, version, type: stored, schema, at, position, command: commandId } = head;
  const where = `${stream}, version ${version}`;
  const type = knownType(stored);
  if (type === undefined)
    throw file.refusal(`${where} has the type ${stored}, which this version does not know`);
  if (position === undefined || commandId === undefined)
    throw file.refusal(`${where} has no position or command`);
  try {
    const data = readData(type, schema, JSON.parse(text));
    return { type, data, meta: { position, stream, version, at, commandId } } as unknown as Recorded;
  } catch (error) {
    throw file.refusal(`${where}: ${(error as Error).message}`);
  }
}

function toContent({ of, head, content }: Of<'content'>, unseal: LogImportOptions['unseal']): LogContent {
  const opened = head['sealed'] === true ? unseal(content as Uint8Array) : content;
  return logKindOf(of).toContent(head as never, opened);
}
