/** Protocol commands that read a thread's state, its checkpoints and the tree of its graphs. */
import type { GraphState } from '../../graphs/port.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import { idOfInterrupt } from '../../protocol/run-fold.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { CommandProblem } from '../../protocol/command.ts';
import { toTree } from '../../protocol/tree.ts';
import { findReadable } from '../threads/readable-thread.ts';
import { check } from '../check.ts';
import { checkpointsOf, findThreadGraph } from '../threads/thread-graph.ts';
import { checkpointParams, stateParams, treeParams } from './schemas.ts';
import type { Caller } from './caller.ts';
import type { ThreadRecord } from '../../store/port/views/threads.ts';

/** Throws a 404 for a thread that does not exist or that the caller may not read. */
export const findThread = async ({ context, actor, threadId }: Caller): Promise<ThreadRecord> =>
  (await findReadable(context, actor, threadId)).thread;

/** Undefined for a thread without a state. Rejects when the graph has no such namespace. */
async function readState(
  { context, actor }: Caller,
  { threadId, head, metadata }: ThreadRecord,
  ns = '',
): Promise<GraphState | undefined> {
  const graph = head === null ? undefined : await findThreadGraph(context, actor, threadId, metadata);
  return (
    graph &&
    context.graphs.state({ ...graph, threadId, ns, subgraphs: false }, checkpointsOf(context, threadId))
  );
}

/** Ids of interrupts without an answer; none while the thread is busy, because a run may be answering them. */
export async function pendingInterrupts(caller: Caller, thread: ThreadRecord): Promise<ReadonlySet<string>> {
  if (thread.status === 'busy') return new Set();
  const known = Object.values(thread.interrupts).flatMap(idsOf);
  if (known.length > 0) return new Set(known);
  // A run that ended before it could resume leaves its interrupt in the state and not in the thread's row.
  return new Set(((await readState(caller, thread))?.interrupts ?? []).map(idOfInterrupt));
}

const idsOf = (interrupts: Json): string[] =>
  (Array.isArray(interrupts) ? interrupts : []).flatMap((each) =>
    isObject(each) ? [idOfInterrupt(each)] : [],
  );

export async function getState(caller: Caller, given: JsonObject): Promise<JsonObject> {
  const { namespace = [], keys } = check(stateParams, given);
  const { thread, ifStillReadable } = await findReadable(caller.context, caller.actor, caller.threadId);
  const ns = namespace.join('|');
  if (ns !== '' && (await caller.context.log.payloads.checkpoint(thread.threadId, ns)) === undefined)
    throw new CommandProblem('no_such_namespace', `The thread has no state in the namespace ${ns}.`);
  const state = await ifStillReadable(readState(caller, thread, ns));
  const values = state?.values.parse() ?? {};
  const id = state?.checkpoint?.id;
  return {
    values:
      keys === undefined || !isObject(values)
        ? values
        : Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key))),
    ...(id !== undefined && id !== null && { checkpoint: { id, ...(ns !== '' && { ns }) } }),
  };
}

/** `state.listCheckpoints`, newest first. */
export async function listCheckpoints(caller: Caller, given: JsonObject): Promise<JsonObject> {
  const { namespace = [], limit, before } = check(checkpointParams, given);
  const { threadId } = await findThread(caller);
  const found = await caller.context.log.payloads.checkpoints(threadId, {
    ns: namespace.join('|'),
    limit,
    ...(before !== undefined && { before }),
  });
  return {
    checkpoints: found.map(({ checkpointId, at, metadata }) => ({
      id: checkpointId,
      timestamp: toTimestamp(at),
      step: typeof metadata['step'] === 'number' ? metadata['step'] : 0,
      metadata,
    })),
  };
}

/** `agent.getTree`: the tree of the named run, or of the thread's latest started run. */
export async function getTree(caller: Caller, given: JsonObject): Promise<JsonObject> {
  const { run_id: runId } = check(treeParams, given);
  const { threadId } = await findThread(caller);
  const { runs } = caller.context.log.views;
  const run = await (runId === undefined ? runs.latest(threadId) : runs.get(runId, { threadId }));
  if (run === undefined) throw new CommandProblem('no_such_run', 'No active run is bound to this thread.');
  return { tree: toTree(await caller.context.threadEvents.nodes(run)) };
}
