import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { JsonText } from '../../kernel/json-text.ts';
import type { Snapshot, SnapshotConfig, SnapshotTask } from '../graph-shapes.ts';
import type { CheckpointRef, GraphState, GraphTask, Interrupt } from '../port.ts';
import { toWire } from '../wire.ts';

/** The runtime's snapshot in the shape of the port; all zero for a thread that never ran. `keys`: all if absent. */
export function toGraphState(snapshot: Snapshot, keys?: readonly string[]): GraphState {
  const tasks = snapshot.tasks.map(toTask);
  const { metadata, createdAt } = snapshot;
  return {
    values: new JsonText(JSON.stringify(pickKeys(toWire(snapshot.values), keys))),
    next: [...snapshot.next],
    tasks,
    // Without a checkpoint the runtime hands the question back as its answer.
    checkpoint: createdAt === undefined ? null : toRef(snapshot.config, metadata?.['parents']),
    parentCheckpoint: toRef(snapshot.parentConfig, metadata?.['parents']),
    ...(metadata === undefined ? {} : { metadata: toMetadata(metadata) }),
    createdAt: createdAt === undefined ? null : toTimestamp(Date.parse(createdAt)),
    interrupts: tasks.flatMap((task) => task.interrupts),
  };
}

/** Of what is no object there are no keys. */
function pickKeys(values: Json, keys: readonly string[] | undefined): Json {
  if (keys === undefined) return values;
  if (!isObject(values)) return {};
  return Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
}

/** By task id; tasks that wait for nobody are left out. */
export function toInterrupts(tasks: readonly SnapshotTask[]): Record<string, Interrupt[]> {
  return Object.fromEntries(
    tasks.flatMap((task) => {
      // A task that has a result was answered; it only waits for its siblings.
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

/** `parents`: the checkpoints of the graphs around, where the config does not name them itself. */
export function toRef(config: SnapshotConfig | undefined, parents?: unknown): CheckpointRef | null {
  const { checkpoint_id: id, checkpoint_ns: ns = '', checkpoint_map: map } = config?.configurable ?? {};
  if (id === undefined) return null;
  const around = toWire(map ?? parents ?? null);
  return { ns, id, ...(ns !== '' && isObject(around) && { map: { ...around, [ns]: id } }) };
}

/** Where a subgraph keeps its own state: a namespace without a checkpoint. */
function toPlace(config: SnapshotConfig | undefined): CheckpointRef | null {
  const ns = config?.configurable?.checkpoint_ns;
  return ns === undefined ? null : { ns, id: config?.configurable?.checkpoint_id ?? null };
}

function toMetadata(metadata: Record<string, unknown>): JsonObject {
  const { checkpoint_ns: ns, ...rest } = toWire(metadata) as JsonObject;
  return ns === undefined || ns === '' ? rest : { ...rest, checkpoint_ns: ns };
}

/** Of what is no error the runtime notes no message; how the run ended tells what was thrown. */
function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { message, name } = error as { message?: unknown; name?: unknown };
  return String(message ?? name ?? 'Error');
}
