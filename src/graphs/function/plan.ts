/** Plans a plain function's run: begin a call, continue an earlier one, or do nothing. Reads only. */
import { interruptKeys, type Ids } from '../../kernel/ids.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { CheckpointReader, LoadedCheckpoint, RunOrder } from '../port.ts';
import {
  parseBody,
  parseNotes,
  type Body,
  type CheckpointNotes,
  type CallRecord,
} from './checkpoint-body.ts';
import { toMessages } from './messages.ts';
import { openValues, toUpdate, type Values } from './values.ts';

export interface Head {
  readonly values: Values;
  /** Null on a thread without checkpoints. */
  readonly checkpointId: string | null;
  /** New checkpoints need a greater id to become the head. */
  readonly newestId: string | null;
  readonly step: number;
}

export type Plan =
  /** Saves the state merged with `update` as the input checkpoint, then calls the function. */
  | { readonly kind: 'begin'; readonly head: Head; readonly update: Record<string, unknown> }
  /** Calls the function with `start` and skips the updates already saved. */
  | {
      readonly kind: 'continue';
      readonly head: Head;
      readonly record: CallRecord;
      readonly start: Record<string, unknown>;
      /** The state update sent with the resume; it is saved before the function is called. */
      readonly update?: Record<string, unknown>;
      /** The number of recorded resume values that the function must consume before its writer emits frames. */
      readonly silentResumes: number;
      /** The head shows an open call, so an end without an update still needs a closing checkpoint. */
      readonly unfinished: boolean;
    }
  /** A resume without a pending interrupt changes nothing. */
  | { readonly kind: 'nothing'; readonly head: Head };

/** Rejects an order that a plain function cannot execute; the error messages are for the client. */
export async function planRun(order: RunOrder, store: CheckpointReader, ids: Ids): Promise<Plan> {
  const wanted = order.resume ? null : order.config.configurable['checkpoint_id'];
  const newest = await store.load('');
  const base = typeof wanted === 'string' ? await store.load('', wanted) : newest;
  if (typeof wanted === 'string' && base === undefined)
    throw new Error(`The thread has no checkpoint ${wanted}`);
  const head = toHead(base, newest, ids);
  const body = base && parseBody(base.body);
  const notes = base === undefined ? {} : parseNotes(base);
  if (order.resume && body?.runId === order.runId)
    return toContinued(head, body.record, store, ids, { unfinished: isUnfinished(base, notes) });

  const { goto, update, resume } = order.command ?? {};
  if (!isEmpty(goto))
    throw new Error(
      `The graph "${order.graphId}" is a plain function: it has no nodes, so goto is not possible`,
    );
  const patch = isEmpty(update) ? undefined : toPatch(update, 'command.update', ids);
  if (resume === undefined)
    return { kind: 'begin', head, update: patch ?? toUpdate(order.input ?? {}, 'The input') };
  if (body === undefined || notes.pending === undefined) return { kind: 'nothing', head };
  return toContinued(head, toResumed(order, body, notes, resume, patch), store, ids, {
    unfinished: true,
    silent: true,
    ...(patch === undefined ? {} : { update: patch }),
  });
}

async function toContinued(
  head: Head,
  record: CallRecord,
  store: CheckpointReader,
  ids: Ids,
  {
    unfinished,
    silent = false,
    update,
  }: { unfinished: boolean; silent?: boolean; update?: Record<string, unknown> },
): Promise<Plan> {
  const input = await store.load('', record.input);
  if (input === undefined) throw new Error('The checkpoint that the function started from was deleted');
  const start = valuesOf(input, ids);
  for (const patch of record.patches) start.apply(patch, record.input);
  return {
    kind: 'continue',
    head,
    record,
    start: start.copy(),
    silentResumes: silent ? record.answers.length : 0,
    unfinished,
    ...(update === undefined ? {} : { update }),
  };
}

/** Adds the resume value, unless an earlier attempt of this run already recorded it with the next interrupt. */
function toResumed(
  order: RunOrder,
  { record }: Body,
  { pending, given }: CheckpointNotes,
  resume: Json,
  patch: Record<string, unknown> | undefined,
): CallRecord {
  const { answers, patches } = given ?? record;
  if (pending === undefined || given?.runId === order.runId) return { ...record, answers, patches };
  return {
    ...record,
    answers: [...answers, pickResumeValue(resume, pending.id)],
    patches: patch === undefined ? patches : [...patches, patch],
  };
}

/** The resume value for the interrupt `id`: from a map of interrupt ids, or `resume` itself if it is no such map. */
function pickResumeValue(resume: Json, id: string): Json {
  if (!isObject(resume) || (interruptKeys(resume)?.length ?? 0) === 0) return resume;
  if (!Object.hasOwn(resume, id))
    throw new Error(`The interrupt ${id} waits, but the answers are for others`);
  return (resume as JsonObject)[id] ?? null;
}

/** Generates message ids once, because every repetition of the call applies the stored patch again. */
export function toPatch(value: Json, what: string, ids: Ids): Record<string, unknown> {
  const update = toUpdate(value, what);
  return 'messages' in update ? { ...update, messages: toMessages(update['messages'], ids) } : update;
}

const isUnfinished = (base: LoadedCheckpoint | undefined, notes: CheckpointNotes): boolean =>
  notes.pending !== undefined || base?.metadata['source'] !== 'loop';

function toHead(base: LoadedCheckpoint | undefined, newest: LoadedCheckpoint | undefined, ids: Ids): Head {
  const step = base?.metadata['step'];
  return {
    values: base === undefined ? openValues([], ids) : valuesOf(base, ids),
    checkpointId: base?.checkpointId ?? null,
    newestId: newest?.checkpointId ?? null,
    step: typeof step === 'number' ? step : -2,
  };
}

/**
 * The state channels of a checkpoint. A checkpoint of another kind of graph also has runtime channels, which are left
 * out. `keys` restricts the channels; absent means all.
 */
export function valuesOf(
  { blobs, valueChannels }: LoadedCheckpoint,
  ids: Ids,
  keys: readonly string[] = valueChannels,
): Values {
  const own = new Set(keys.filter((key) => valueChannels.includes(key)));
  return openValues(
    blobs.filter(({ channel }) => own.has(channel)),
    ids,
  );
}

const isEmpty = (value: Json | undefined): value is undefined | null | [] =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
