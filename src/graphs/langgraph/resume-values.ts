/** Prepares a run's resume values for the runtime, without those that an earlier attempt used (resume-notes.ts). */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { CheckpointReader, RunOrder } from '../port.ts';
import { notesOf } from './resume-notes.ts';

export interface Settled {
  readonly order: RunOrder;
  /** A resume value that a root task gets as if it had been stored before. */
  readonly given?: { readonly taskId: string; readonly value: Json };
}

/** The checkpoint that the run starts from; undefined for the head. */
const baseIdOf = ({ config: { configurable } }: RunOrder): string | undefined => {
  const id = configurable['checkpoint_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** Returns the order with the unused resume values, in a form that the runtime does not ignore. */
export async function prepareResume(
  order: RunOrder,
  graph: CompiledGraph,
  store: CheckpointReader,
): Promise<Settled> {
  const resume = order.command?.resume;
  if (order.resume || resume === undefined) return { order };
  const at = order.attempt > 1 ? await store.load('', baseIdOf(order)) : undefined;
  const used = notesOf(order.runId, at?.writes ?? []);
  if (used.length > 0) {
    const ids = used.flatMap((note) => note.ids);
    return { order: withResume(order, isObject(resume) ? without(resume, ids) : null) };
  }
  return Boolean(resume) ? { order } : addressed(order, resume, graph);
}

/** Removes the resume values of these interrupt ids; null if none remain. */
function without(values: JsonObject, ids: readonly string[]): Json {
  const unused = Object.entries(values).filter(([id]) => !ids.includes(id));
  return unused.length === 0 ? null : Object.fromEntries(unused);
}

/** Replaces the resume value. Null drops the whole command: its other parts were saved with the used resume values. */
function withResume(order: RunOrder, resume: Json): RunOrder {
  const { command, ...rest } = order;
  return resume === null ? { ...rest, input: null } : { ...order, command: { ...command, resume } };
}

/**
 * Addresses a falsy resume value to the first pending interrupt, because the runtime ignores null, `false`, `0` and `''`
 * without an interrupt id. The first interrupt is also what the runtime picks for truthy values. After a state edit no interrupt
 * is pending, so the value is given to the waiting task directly.
 */
async function addressed(order: RunOrder, resume: Json, graph: CompiledGraph): Promise<Settled> {
  const { tasks } = await graph.getState({
    configurable: { thread_id: order.threadId, checkpoint_ns: '', checkpoint_id: baseIdOf(order) },
  });
  const id = tasks.flatMap((task) => task.interrupts ?? [])[0]?.id;
  if (id !== undefined) return { order: withResume(order, { [id]: resume }) };
  const { goto, update } = order.command ?? {};
  const [first] = tasks;
  if (first === undefined || (goto ?? update ?? null) !== null) return { order };
  return { order: withResume(order, null), given: { taskId: first.id, value: resume } };
}
