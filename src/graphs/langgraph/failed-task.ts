/**
 * Finds the node that a run failed in. The runtime adds the failed task's id to the error, and the states of the graph
 * and its subgraphs name the tasks.
 */
import { stackOf } from '../../kernel/stack.ts';
import type { Origin } from '../../thread/origin.ts';
import { LocatedFailure } from '../failure.ts';
import { extended, stackOfBranch, stackOfNode } from '../function-place.ts';
import type { CompiledGraph, Snapshot, SnapshotTask } from '../graph-shapes.ts';
import { bind, toView } from './binding.ts';
import { locateUpdate } from './failed-update.ts';
import type { Saver, TaskWrites } from './saver-contract.ts';
import { namesIn, subgraphAt } from './structure.ts';

/** Maximum nesting of subgraphs that is searched. */
const MAX_NESTED_NODES = 16;

/** Wraps the error with its node and step; returns it unchanged if the node is unknown. */
export async function locateFailure(
  graph: CompiledGraph,
  saver: Saver,
  threadId: string,
  caught: unknown,
): Promise<unknown> {
  const error = primitiveOf(caught) ?? caught;
  const view = toView(saver, async (config) => {
    const isRoot = (config.configurable?.['checkpoint_ns'] ?? '') === '';
    return (isRoot ? saver.lastTuple() : undefined) ?? saver.getTuple(config);
  });
  const bound = bind(graph, view);
  /** Reads the state of a namespace; undefined if it has no subgraph. */
  const read = (ns: string): Promise<Snapshot | undefined> =>
    bound.getState({ configurable: { thread_id: threadId, checkpoint_ns: ns } }).catch(() => undefined);

  const recent = saver.recentTasks();
  if (Object(error).name === 'GraphRecursionError') {
    const round = roundOf(recent);
    return new LocatedFailure(error, {
      node: round.join(' → '),
      ...toPlace(graph, error, round.slice(0, 1)),
    });
  }
  const update = locateUpdate(graph, error, recent);
  if (update !== undefined) {
    const { around, nodes, channel } = update;
    const node = [...around, nodes.join(', ')].join('|');
    const place = toPlace(graph, error, [...around, ...nodes.slice(0, 1)]);
    return new LocatedFailure(error, { node, channel, ...place });
  }
  const state = await read('');
  const failed =
    state?.tasks.find(({ id }) => id === taskIdOf(error)) ?? onlyFailed(state) ?? onlyTask(error, state);
  if (failed === undefined) return error;

  const names = [failed.name];
  let ns = `${failed.name}:${failed.id}`;
  while (names.length < MAX_NESTED_NODES) {
    const inner = onlyFailed(await read(ns));
    if (inner === undefined) break;
    names.push(inner.name);
    ns += `|${inner.name}:${inner.id}`;
  }
  const step = state?.metadata?.['step'];
  return new LocatedFailure(error, {
    node: names.join('|'),
    ...(typeof step === 'number' && { step: step + 1 }),
    ...toPlace(graph, error, names),
  });
}

/** The id of the task that failed; an error of several tasks names the first one. */
function taskIdOf(error: unknown): unknown {
  const { pregelTaskId, errors } = Object(error) as { pregelTaskId?: unknown; errors?: unknown };
  return pregelTaskId ?? (Array.isArray(errors) ? Object(errors[0]).pregelTaskId : undefined);
}

/** The stack with the place of the node's function, or of its conditional edge, if it shows no file of the project. */
function toPlace(
  root: CompiledGraph,
  error: unknown,
  path: readonly string[],
): Pick<Origin, 'stack' | 'remedy'> {
  const node = path.at(-1);
  const graph = subgraphAt(root, path.slice(0, -1));
  if (graph === undefined || node === undefined) return {};
  const isOfEdge = stackOf(error)?.includes('Branch._route') === true;
  const stack = extended(
    error,
    () => (isOfEdge ? stackOfBranch(graph, node) : undefined) ?? stackOfNode(graph, node),
  );
  const ends = isOfEdge ? Object.values(graph.builder?.branches?.[node] ?? {})[0]?.ends : undefined;
  const isUnknown = String(Object(error).message).startsWith(UNKNOWN_DESTINATION);
  return {
    ...(stack !== undefined && { stack }),
    ...(ends && isUnknown && { remedy: `it may return ${namesIn(Object.keys(ends))}` }),
  };
}

/** The runtime's message for a conditional edge that returns what its list of nodes does not have. */
const UNKNOWN_DESTINATION = 'Branch condition returned unknown';

/** The root graph's nodes since the last but one execution of the latest. */
function roundOf(recent: readonly TaskWrites[]): readonly string[] {
  const nodes = recent.filter(({ ns }) => ns === '').map(({ node }) => node);
  const before = nodes.lastIndexOf(nodes.at(-1) ?? '', -2);
  return nodes.slice(before + 1);
}

/** The runtime fails at a thrown primitive, because it sets a member of what was thrown. */
const PRIMITIVE = /^Cannot create property 'pregelTaskId' on \w+ '([^]*)'$/;
const NOTHING = /^Cannot set properties of (undefined|null) \(setting 'pregelTaskId'\)$/;

function primitiveOf(caught: unknown): string | undefined {
  if (!(caught instanceof TypeError)) return undefined;
  const [, nothing] = NOTHING.exec(caught.message) ?? [];
  return nothing === undefined ? PRIMITIVE.exec(caught.message)?.[1] : `${nothing} was thrown`;
}

/** After a thrown primitive, no task has an error. */
const onlyTask = (error: unknown, state: Snapshot | undefined): SnapshotTask | undefined =>
  typeof error === 'string' && state?.tasks.length === 1 ? state.tasks[0] : undefined;

function onlyFailed(state: Snapshot | undefined): SnapshotTask | undefined {
  const failed = state?.tasks.filter(({ error }) => error !== undefined) ?? [];
  return failed.length === 1 ? failed[0] : undefined;
}
