/** Converts the runtime's state snapshots to the form of the port. */
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { JsonText } from '../../kernel/json-text.ts';
import type { Snapshot, SnapshotConfig, SnapshotTask } from '../graph-shapes.ts';
import type { CheckpointRef, GraphState, GraphTask, Interrupt } from '../port.ts';
import { toWire } from '../wire.ts';

/** The state of a snapshot; empty for a thread without checkpoints. `keys` restricts the values; absent means all. */
export function toGraphState(snapshot: Snapshot, keys?: readonly string[]): GraphState {
  const tasks = snapshot.tasks.map(toTask);
  const { metadata, createdAt } = snapshot;
  return {
    values: new JsonText(JSON.stringify(pickKeys(toWire(snapshot.values), keys))),
    next: [...snapshot.next],
    tasks,
    // For a missing checkpoint the runtime returns the requested config, which is no reference.
    checkpoint: createdAt === undefined ? null : toRef(snapshot.config, metadata?.['parents']),
    parentCheckpoint: toRef(snapshot.parentConfig, metadata?.['parents']),
    ...(metadata === undefined ? {} : { metadata: toMetadata(metadata) }),
    createdAt: createdAt === undefined ? null : toTimestamp(Date.parse(createdAt)),
    interrupts: tasks.flatMap((task) => task.interrupts),
  };
}

/** Picks top-level keys; values that are not an object have none. */
function pickKeys(values: Json, keys: readonly string[] | undefined): Json {
  if (keys === undefined) return values;
  if (!isObject(values)) return {};
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}

/** Pending interrupts by task id; tasks without any are left out. */
export function toInterrupts(tasks: readonly SnapshotTask[]): Record<string, Interrupt[]> {
  return Object.fromEntries(
    tasks.flatMap((task) => {
      // A task with a result was resumed and only waits for its siblings.
      const interrupts = task.result === undefined ? interruptsOf(task) : [];
      return interrupts.length === 0 ? [] : [[task.id, interrupts]];
    }),
  );
}

function toTask(task: SnapshotTask): GraphTask {
  const { state } = task;
  const nested = state !== undefined && 'values' in state ? toGraphState(state) : null;
  return {
    id: task.id,
    name: task.name,
    path: (task.path ?? []).map(toWire),
    error: task.error === undefined ? null : errorText(task.error),
    interrupts: interruptsOf(task),
    checkpoint: nested === null ? toPlace(state as SnapshotConfig | undefined) : null,
    state: nested,
    result: toWire(task.result),
  };
}

const interruptsOf = (task: SnapshotTask): Interrupt[] =>
  (task.interrupts ?? [])
    .flat()
    .map((interrupt) => toWire({ ...interrupt, value: interrupt.value ?? null }) as Interrupt);

/** `parents`: checkpoint ids of the parent graphs by namespace, used if the config has no checkpoint map. */
export function toRef(config: SnapshotConfig | undefined, parents?: unknown): CheckpointRef | null {
  const { checkpoint_id: id, checkpoint_ns: ns = '', checkpoint_map: map } = config?.configurable ?? {};
  if (id === undefined) return null;
  const around = toWire(map ?? parents ?? null);
  return { ns, id, ...(ns !== '' && isObject(around) && { map: { ...around, [ns]: id } }) };
}

/** The reference to a subgraph's state: its namespace, with the checkpoint id if the config has one. */
function toPlace(config: SnapshotConfig | undefined): CheckpointRef | null {
  const ns = config?.configurable?.checkpoint_ns;
  return ns === undefined ? null : { ns, id: config?.configurable?.checkpoint_id ?? null };
}

function toMetadata(metadata: Record<string, unknown>): JsonObject {
  const { checkpoint_ns: ns, ...rest } = toWire(metadata) as JsonObject;
  return ns === undefined || ns === '' ? rest : { ...rest, checkpoint_ns: ns };
}

/** The text of a task's error. The runtime stores no message for thrown values that are not errors. */
function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { message, name } = error as { message?: unknown; name?: unknown };
  return String(message ?? name ?? 'Error');
}
