/** The answers of a run to the questions that wait: see answer-notes.ts for those of a run that is repeated. */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { CheckpointReader, RunOrder } from '../port.ts';
import { notesOf } from './answer-notes.ts';

/** What a run is to give to whom. */
export interface Settled {
  readonly order: RunOrder;
  /** What a task of the root graph finds as if it had got it before. */
  readonly given?: { readonly taskId: string; readonly answer: Json };
}

/** The checkpoint at which the question was asked, if not at the head. */
const placeOf = ({ config: { configurable } }: RunOrder): string | undefined => {
  const id = configurable['checkpoint_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** The order with the answers that are still to be given, in a form that the runtime does not overlook. */
export async function settleAnswers(
  order: RunOrder,
  graph: CompiledGraph,
  store: CheckpointReader,
): Promise<Settled> {
  const resume = order.command?.resume ?? null;
  if (order.resume || resume === null) return { order };
  const at = order.attempt > 1 ? await store.load('', placeOf(order)) : undefined;
  const used = notesOf(order.runId, at?.writes ?? []);
  if (used.length > 0) {
    const ids = used.flatMap(({ questions }) => questions);
    return { order: withAnswer(order, isObject(resume) ? without(resume, ids) : null) };
  }
  return Boolean(resume) ? { order } : addressed(order, resume, graph);
}

/** Answers by question without these; null if none is left. */
function without(answers: JsonObject, ids: readonly string[]): Json {
  const left = Object.entries(answers).filter(([id]) => !ids.includes(id));
  return left.length === 0 ? null : Object.fromEntries(left);
}

/** Without an answer the run goes on from where it was given: what else the command brought is saved there already. */
function withAnswer(order: RunOrder, resume: Json): RunOrder {
  const { command, ...rest } = order;
  return resume === null ? { ...rest, input: null } : { ...order, command: { ...command, resume } };
}

/**
 * The runtime overlooks an answer of `false`, `0` or `''` unless it is addressed to its interrupt. Addresses it to
 * the first one that waits, which is who gets any other answer without an address. After an edit of the state none is
 * known any more, and the task that waits is to ask anew: it is given the answer itself.
 */
async function addressed(order: RunOrder, resume: Json, graph: CompiledGraph): Promise<Settled> {
  const { tasks } = await graph.getState({
    configurable: { thread_id: order.threadId, checkpoint_ns: '', checkpoint_id: placeOf(order) },
  });
  const id = tasks.flatMap((task) => task.interrupts ?? [])[0]?.id;
  if (id !== undefined) return { order: withAnswer(order, { [id]: resume }) };
  const { goto, update } = order.command ?? {};
  const [first] = tasks;
  if (first === undefined || (goto ?? update ?? null) !== null) return { order };
  return { order: withAnswer(order, null), given: { taskId: first.id, answer: resume } };
}
