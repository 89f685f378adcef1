/**
 * Applies a client's state update to a plain function's thread. `asNode` has the same meaning as for other graphs:
 *
 * - absent: only the values change. A pending interrupt stays, and its resume calls the function with the new values. A
 *   finished call stays finished.
 * - the graph's id: the values count as returned by the function. The call is finished and its interrupt void.
 * - `__input__` or `__start__`: the values count as input. The function is still to be called.
 * - `__end__`: the call is finished.
 * - `__copy__`: a sibling of the checkpoint, without its interrupt. Values that are a list of pairs of an update and an
 *   `asNode` are applied to the copy as one superstep; other values are ignored.
 */
import type { Ids } from '../../kernel/ids.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { CheckpointBuffer } from '../checkpoint-buffer.ts';
import type { ChannelBlob, LoadedCheckpoint } from '../port.ts';
import { publicConfigurable } from '../private-keys.ts';
import type { GraphUpdate, Updated, UpdateOrder } from '../state-port.ts';
import { nextVersion } from '../versions.ts';
import {
  parseBody,
  parseNotes,
  taskIdOf,
  toBody,
  toPauseWrites,
  type CallRecord,
} from './checkpoint-body.ts';
import { laterId } from './journal.ts';
import { isOpen } from './state-access.ts';
import { toPatch, valuesOf } from './plan.ts';
import { openValues } from './values.ts';

const INPUT_NODES: ReadonlySet<string> = new Set(['__input__', '__start__']);

/** Throws for an update that a plain function cannot apply; the error messages are for the client. */
export async function updateFunctionState(
  order: UpdateOrder,
  buffer: CheckpointBuffer,
  ids: Ids,
): Promise<Updated> {
  if ((order.ns ?? '') !== '') throw new Error(`The graph "${order.graphId}" has no subgraphs`);
  let base = await buffer.load('', order.checkpointId);
  for (const updates of order.supersteps.flatMap(splitCopy)) {
    if (updates[0]?.asNode === COPY) {
      base = await copy(order, buffer, ids, base);
      continue;
    }
    const patches = updates.map((update) => toChange(update, order.graphId, ids));
    const names = new Set(updates.map(({ asNode }) => asNode));
    if (names.size > 1) throw new Error('The updates of one superstep are all in the name of the same node');
    base = await step(order, buffer, ids, base, patches, updates[0]?.asNode);
  }
  if (base === undefined) throw new Error('There is nothing to update');
  const body = parseBody(base.body);
  const notes = parseNotes((await buffer.load('')) ?? base);
  const { pending } = notes;
  return {
    kind: 'updated',
    saved: buffer.saved,
    place: { ns: '', id: base.checkpointId },
    next: isOpen(base, body, notes) ? [order.graphId] : [],
    interrupts:
      pending === undefined || body === undefined
        ? {}
        : { [taskIdOf(body.record)]: [{ id: pending.id, value: pending.value }] },
  };
}

const COPY = '__copy__';

/** A copy with updates is two supersteps: the copy, and the updates of it. */
function splitCopy(updates: readonly GraphUpdate[]): (readonly GraphUpdate[])[] {
  const [first] = updates;
  if (first?.asNode !== COPY) return [updates];
  if (updates.length > 1) throw new Error('A copy is the only update of its superstep');
  const pairs = isPairs(first.values) ? first.values.map(([values, asNode]) => ({ values, asNode })) : [];
  return pairs.length === 0 ? [updates] : [updates, pairs];
}

const isPairs = (values: Json): values is [Json, string][] =>
  Array.isArray(values) &&
  values.every((each) => Array.isArray(each) && each.length === 2 && typeof each[1] === 'string');

/** Saves a sibling of `base` with its values and returns it as loaded. */
async function copy(
  order: UpdateOrder,
  buffer: CheckpointBuffer,
  ids: Ids,
  base: LoadedCheckpoint | undefined,
): Promise<LoadedCheckpoint | undefined> {
  if (base === undefined) throw new Error('There is no checkpoint to copy');
  const { parentId, metadata, valueChannels } = base;
  const checkpointId = laterId(ids, (await buffer.load(''))?.checkpointId ?? null);
  const record: CallRecord = { input: checkpointId, done: 0, answers: [], patches: [] };
  const isOver = !isOpen(base, parseBody(base.body), parseNotes(base));
  const step = (typeof metadata['step'] === 'number' ? metadata['step'] : -2) + 1;
  await buffer.save({
    ...{ ns: '', checkpointId, parentId, step, source: 'fork', valueChannels, blobs: [] },
    body: toBody({ runId: order.updateId, record, ...(isOver && { over: true }) }),
    metadata: { ...metadataOf(order), source: 'fork', step, parents: {} },
    channelVersions: valuesOf(base, ids).versions,
  });
  return buffer.load('', checkpointId);
}

const metadataOf = ({ config, threadId }: UpdateOrder): JsonObject => ({
  ...publicConfigurable(config.configurable),
  ...config.metadata,
  thread_id: threadId,
});

/** Saves one child checkpoint of `base` and returns it as loaded. */
async function step(
  order: UpdateOrder,
  buffer: CheckpointBuffer,
  ids: Ids,
  base: LoadedCheckpoint | undefined,
  changes: readonly Record<string, unknown>[],
  asNode: string | undefined,
): Promise<LoadedCheckpoint | undefined> {
  const newest = await buffer.load('');
  const checkpointId = laterId(ids, newest?.checkpointId ?? null);
  const values = base === undefined ? openValues([], ids) : valuesOf(base, ids);
  const blobs = new Map<string, ChannelBlob>();
  for (const change of changes) {
    const version = nextVersion(Object.values(values.versions).sort().at(-1), ids);
    for (const blob of values.apply(change, version).blobs) blobs.set(blob.channel, blob);
  }
  const before = base && parseBody(base.body);
  const notes = base === undefined ? {} : parseNotes(base);
  const begun: CallRecord = { input: checkpointId, done: 0, answers: [], patches: [] };
  const waits = asNode === undefined && before !== undefined && notes.pending !== undefined;
  const { answers, patches } = notes.given ?? before?.record ?? begun;
  const record = waits
    ? { ...before.record, answers, patches: [...patches, ...changes] }
    : asNode !== undefined && INPUT_NODES.has(asNode)
      ? begun
      : (before?.record ?? begun);
  const over =
    asNode === undefined ? base === undefined || !isOpen(base, before, notes) : !INPUT_NODES.has(asNode);
  const source = asNode !== undefined && INPUT_NODES.has(asNode) ? 'input' : 'update';
  const last = base?.metadata['step'];
  const number = (typeof last === 'number' ? last : -2) + 1;
  await buffer.save({
    ns: '',
    checkpointId,
    parentId: base?.checkpointId ?? null,
    body: toBody({ runId: order.updateId, record, ...(over && { over }) }),
    metadata: { ...metadataOf(order), source, step: number, parents: {} },
    channelVersions: values.versions,
    blobs: [...blobs.values()],
    valueChannels: values.names,
    step: number,
    source,
  });
  if (waits && notes.pending !== undefined)
    await buffer.saveWrites('', checkpointId, toPauseWrites(record, notes.pending, notes.given?.runId ?? ''));
  return buffer.load('', checkpointId);
}

function toChange(
  { values, asNode, command }: GraphUpdate,
  graphId: string,
  ids: Ids,
): Record<string, unknown> {
  const isKnown =
    asNode === undefined || asNode === graphId || asNode === '__end__' || INPUT_NODES.has(asNode);
  if (!isKnown)
    throw new Error(
      `The graph "${graphId}" is a plain function: its one node is "${graphId}", not "${asNode}"`,
    );
  const { goto, update, resume } = command ?? {};
  const goes = Array.isArray(goto) ? goto.length > 0 : goto !== undefined && goto !== null;
  if (goes || (resume !== undefined && resume !== null))
    throw new Error(`The graph "${graphId}" is a plain function: an update of its state only has values`);
  const given: Json = command === undefined ? values : (update ?? null);
  return given === null ? {} : toPatch(given, 'The update', ids);
}
