/**
 * Finds the node that a run failed in. The runtime adds the failed task's id to the error, and the states of the graph
 * and its subgraphs name the tasks.
 */
import { LocatedFailure } from '../failure.ts';
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
  error: unknown,
): Promise<unknown> {
  const view = toView(saver, async (config) => {
    const isRoot = (config.configurable?.['checkpoint_ns'] ?? '') === '';
    return (isRoot ? saver.lastTuple() : undefined) ?? saver.getTuple(config);
  });
  const bound = bind(graph, view);
  /** Reads the state of a namespace; undefined if it has no subgraph. */
  const read = (ns: string): Promise<Snapshot | undefined> =>
    bound.getState({ configurable: { thread_id: threadId, checkpoint_ns: ns } }).catch(() => undefined);

  const state = await read('');
  const { pregelTaskId } = Object(error) as { pregelTaskId?: unknown };
  const failed = state?.tasks.find(({ id }) => id === pregelTaskId) ?? onlyFailed(state);
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
  });
}

function onlyFailed(state: Snapshot | undefined): SnapshotTask | undefined {
  const failed = state?.tasks.filter(({ error }) => error !== undefined) ?? [];
  return failed.length === 1 ? failed[0] : undefined;
}
