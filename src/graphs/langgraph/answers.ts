/**
 * The answers of a run to the questions that wait. The runtime remembers which task got an answer but not from whom,
 * so a run that is repeated after a crash could answer the next question with the words meant for the one before.
 */
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { createDecoder, encode } from '../codec.ts';
import type { CompiledGraph } from '../graph-shapes.ts';
import type { CheckpointReader, LoadedCheckpoint, PendingWrite, RunOrder } from '../port.ts';
import { ANSWERED_BY, INTERRUPT, RESUME } from '../state-port.ts';

/** The task that stands for the run's own input. */
export const NULL_TASK = '00000000-0000-0000-0000-000000000000';
const ANSWERED_INDEX = -5;

export const toAnsweredWrite = (taskId: string, runId: string): PendingWrite => ({
  taskId,
  ...{ channel: ANSWERED_BY, idx: ANSWERED_INDEX },
  data: encode(runId),
});

/**
 * The task of the root graph that works in a namespace, such as `agent:<task>|tools:<task>`: its question is that of the
 * subgraph. A subgraph that keeps its state from run to run does not say in whose task it is.
 */
export const rootTaskOf = (ns: string): string => ns.split('|', 1)[0]?.split(':')[1] ?? NULL_TASK;

/** An answer without an address belongs to the run that brought it; a later run must not find it. */
export const isForRuntime = ({ taskId, channel }: PendingWrite): boolean =>
  channel !== ANSWERED_BY && !(channel === RESUME && taskId === NULL_TASK);

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
  const used = at === undefined ? [] : tasksAnsweredBy(order.runId, at);
  if (at !== undefined && used.length > 0)
    return { order: withAnswer(order, isObject(resume) ? unused(resume, used, at) : null) };
  return Boolean(resume) ? { order } : addressed(order, resume, graph);
}

/**
 * Not those that are named like a question: as writes of such a task the runtime keeps answers by interrupt id before
 * anybody has used them.
 */
function tasksAnsweredBy(runId: string, { writes }: LoadedCheckpoint): string[] {
  const questions = questionsOf(writes).map(({ id }) => id);
  return writes
    .filter(({ channel, data }) => channel === ANSWERED_BY && data === encode(runId))
    .map(({ taskId }) => taskId)
    .filter((taskId) => !questions.includes(taskId));
}

function questionsOf(writes: readonly PendingWrite[]): { readonly taskId: string; readonly id?: string }[] {
  const decode = createDecoder();
  return writes
    .filter(({ channel }) => channel === INTERRUPT)
    .map(({ taskId, data }) => ({ taskId, ...(decode(data) as { id?: string }) }));
}

/** Answers by interrupt id without those of the tasks that have used theirs; null if none is left. */
function unused(answers: JsonObject, used: readonly string[], { writes }: LoadedCheckpoint): Json {
  const ids = questionsOf(writes)
    .filter(({ taskId }) => used.includes(taskId))
    .map(({ id }) => id);
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
