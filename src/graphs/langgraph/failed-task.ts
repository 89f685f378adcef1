/**
 * Finds the node that a run failed in. The runtime adds the failed task's id to the error, and the states of the graph
 * and its subgraphs name the tasks.
 */
import { stackOf } from '../../kernel/stack.ts';
import { LocatedFailure } from '../failure.ts';
import { stackOfNode } from '../function-place.ts';
import type { CompiledGraph, Snapshot, SnapshotTask } from '../graph-shapes.ts';
import { bind, toView } from './binding.ts';
import type { Saver } from './saver-contract.ts';

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

  if (Object(error).name === 'GraphRecursionError')
    return new LocatedFailure(error, { node: roundOf(saver.recentNodes()).join(' → ') });
  const state = await read('');
  const { pregelTaskId } = Object(error) as { pregelTaskId?: unknown };
  const failed =
    state?.tasks.find(({ id }) => id === pregelTaskId) ?? onlyFailed(state) ?? onlyTask(error, state);
  if (failed === undefined) return error;

  const names = [failed.name];
  let ns = `${failed.name}:${failed.id}`;
  while (names.length < MAX_NESTED_NODES) {
    const inner = onlyFailed(await read(ns));
    if (inner === undefined) break;
    names.push(inner.name);
    ns += `|${inner.name}:${inner.id}`;
  }
  // A thrown value that is no error has no stack.
  const stack =
    names.length === 1 && stackOf(error) === undefined ? stackOfNode(graph, failed.name) : undefined;
  const step = state?.metadata?.['step'];
  return new LocatedFailure(error, {
    node: names.join('|'),
    ...(stack !== undefined && { stack }),
    ...(typeof step === 'number' && { step: step + 1 }),
  });
}

/** The nodes since the last but one execution of the latest node. */
function roundOf(nodes: readonly string[]): readonly string[] {
  const before = nodes.lastIndexOf(nodes.at(-1) ?? '', -2);
  return nodes.slice(before + 1);
}

/** The runtime fails at a thrown string or number, because it sets a member of what was thrown. */
const PRIMITIVE = /^Cannot create property 'pregelTaskId' on \w+ '([^]*)'$/;

const primitiveOf = (caught: unknown): string | undefined =>
  caught instanceof TypeError ? PRIMITIVE.exec(caught.message)?.[1] : undefined;

/** After a thrown primitive, no task has an error. */
const onlyTask = (error: unknown, state: Snapshot | undefined): SnapshotTask | undefined =>
  typeof error === 'string' && state?.tasks.length === 1 ? state.tasks[0] : undefined;

function onlyFailed(state: Snapshot | undefined): SnapshotTask | undefined {
  const failed = state?.tasks.filter(({ error }) => error !== undefined) ?? [];
  return failed.length === 1 ? failed[0] : undefined;
}
