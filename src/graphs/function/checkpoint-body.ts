/** The checkpoint body and pending writes of plain functions. */
import { uuidv5 } from '../../kernel/ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { createDecoder, encode } from '../codec.ts';
import type { LoadedCheckpoint, PendingWrite } from '../port.ts';
import { toWire } from '../wire.ts';

/** One logical call of the function across runs. Each resume or crash repeats the call with the same input (call.ts). */
export interface CallRecord {
  /** The id of the checkpoint whose state the function is called with. */
  readonly input: string;
  /** The number of its updates that are saved. */
  readonly done: number;
  /** Resume values, in the order of the interrupts. */
  readonly answers: readonly unknown[];
  /** State updates that clients sent with resumes; they are merged into the state that the function gets. */
  readonly patches: readonly Record<string, unknown>[];
}

export interface Body {
  readonly runId: string;
  readonly record: CallRecord;
  /** True for a client's state update after which the function need not be called. */
  readonly over?: boolean;
}

/** A pending interrupt; `index` counts the interrupts of the call from 0. */
export interface Pending {
  readonly id: string;
  readonly index: number;
  readonly value: Json;
}

const KIND = 'function';
const decode = createDecoder();

/** Stored checkpoints name the record `turn`. */
type StoredBody = Omit<Body, 'record'> & { readonly kind?: unknown; readonly turn: CallRecord };

export const toBody = ({ runId, record, over }: Body): string =>
  encode({ kind: KIND, runId, turn: record, ...(over && { over }) } satisfies StoredBody);

/** Undefined for a checkpoint that another kind of graph saved, or that an imported file brought with another record. */
export function parseBody(text: string): Body | undefined {
  const { kind, turn: record, ...rest } = decode(text) as StoredBody;
  return kind === KIND && isRecord(record) ? { ...rest, record } : undefined;
}

const isRecord = (found: unknown): found is CallRecord =>
  isObject(found) &&
  typeof found['input'] === 'string' &&
  typeof found['done'] === 'number' &&
  [found['answers'], found['patches']].every(Array.isArray);

const NAMESPACE = '2f0c9a54-5f3e-5d3b-9a0e-6b1d4f2f7c11';

/** The id of the function's only task; stable across the runs of one call. */
export const taskIdOf = (record: Pick<CallRecord, 'input'>): string =>
  uuidv5(`task:${record.input}`, NAMESPACE);

/** The id of a call's `index`-th interrupt: 32 hex digits, the same in every repetition of the call. */
export const interruptIdOf = (threadId: string, record: Pick<CallRecord, 'input'>, index: number): string =>
  uuidv5(`interrupt:${threadId}:${record.input}:${index}`, NAMESPACE).replaceAll('-', '');

// Channels and write indices equal LangGraph's.
const ERROR = { channel: '__error__', idx: -1 };
const INTERRUPT = { channel: '__interrupt__', idx: -3 };
const RESUME = { channel: '__resume__', idx: -4 };

/** True if a checkpoint with writes to these channels has a pending interrupt. */
export const hasInterrupt = (written: readonly string[]): boolean => written.includes(INTERRUPT.channel);

/** The writes of an interrupt and of the resume values before it; one batch saves both, so neither exists alone. */
export function toPauseWrites(
  record: CallRecord,
  pending: Omit<Pending, 'value'> & { readonly value: unknown },
  runId: string,
): PendingWrite[] {
  const taskId = taskIdOf(record);
  const { answers, patches } = record;
  return [
    { taskId, ...INTERRUPT, data: encode(pending, 'interrupt') },
    { taskId, ...RESUME, data: encode({ runId, answers, patches }) },
  ];
}

export const toErrorWrite = (record: CallRecord, message: string): PendingWrite => ({
  taskId: taskIdOf(record),
  ...ERROR,
  data: encode({ message }),
});

export interface CheckpointNotes {
  readonly pending?: Pending;
  /** Resume values recorded with the interrupt, and the run that recorded them. */
  readonly given?: Pick<CallRecord, 'answers' | 'patches'> & { readonly runId: string };
  readonly error?: string;
}

/** Decodes a checkpoint's pending writes. */
export function parseNotes({ writes }: LoadedCheckpoint): CheckpointNotes {
  // Imported files can have any value in a write.
  const find = (channel: string): unknown => {
    const write = writes.find((each) => each.channel === channel);
    const value = write && decode(write.data);
    return isObject(value) ? value : undefined;
  };
  const pending = find(INTERRUPT.channel) as (Omit<Pending, 'value'> & { value: unknown }) | undefined;
  const given = find(RESUME.channel) as CheckpointNotes['given'];
  const error = find(ERROR.channel) as { message: string } | undefined;
  return {
    ...(pending === undefined ? {} : { pending: { ...pending, value: toWire(pending.value) } }),
    ...(given === undefined ? {} : { given }),
    ...(error === undefined ? {} : { error: error.message }),
  };
}
