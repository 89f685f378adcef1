/**
 * Finds the nodes behind a thread's checkpoints. Checkpoints do not name them, but tasks do: the tasks with writes on
 * a checkpoint ran next and led to the following one.
 */
import { nodePathOf } from '../kernel/embedded-ids.ts';
import { uuidTime } from '../kernel/ids.ts';
import { isObject, type Json } from '../kernel/json.ts';
import type { StoredCheckpoint } from '../store/port/payloads.ts';
import type { History } from '../store/port/past.ts';
import type { CheckpointKey, SavedCheckpoint, ThreadEvent } from '../thread/events.ts';
import { kindOf, nodeOfPath, nodeOfSend, SENDS } from './step-nodes.ts';
import { keyOf, parseStored } from './trace.ts';

export interface Step {
  /** Nodes from the root graph to the subgraph of the checkpoint; empty for the root graph. */
  readonly graph: string;
  readonly source: string;
  /** Nodes that led to the checkpoint, one per execution; empty for inputs and for libraries without task names. */
  readonly nodes: readonly string[];
  /** Nodes that run next; undefined when unknown. */
  readonly next?: readonly string[];
}

export type Saved = (ThreadEvent & { type: 'CheckpointSaved' })['data'];

/** `events`: all of the thread, in order. The result maps an event's index to its step, undefined without one. */
export async function openSteps(
  history: History,
  threadId: string,
  events: readonly ThreadEvent[],
): Promise<(index: number) => Promise<Step | undefined>> {
  const nodesOn = await openTasks(history, threadId, events.flatMap(checkpointsIn));
  const graphs = new Map(
    events.flatMap(({ type, data }) => (type === 'RunCreated' ? [[data.runId, data.graphId]] : [])),
  );
  const functions = new Map<string, boolean>();
  const load = ({ ns, checkpointId }: Saved) => history.payloads.checkpoint(threadId, ns, checkpointId);
  async function isFunction(saved: Saved): Promise<boolean> {
    const known = functions.get(saved.runId);
    if (known !== undefined) return known;
    const found = kindOf(await load(saved)) === 'function';
    functions.set(saved.runId, found);
    return found;
  }
  const following = (index: number, saved: Saved): ThreadEvent | undefined => {
    for (let at = index + 1; at < events.length; at++) if (follows(saved, events[at]!)) return events[at];
    return undefined;
  };

  return async (index) => {
    const event = events[index];
    if (event?.type !== 'CheckpointSaved') return undefined;
    const { data } = event;
    return stepOf(data, {
      graphId: graphs.get(data.runId) ?? '',
      nodesOn: ({ ns, checkpointId }) => nodesOn(ns, checkpointId),
      following: () => following(index, data),
      load: () => load(data),
      isFunction: () => isFunction(data),
    });
  };
}

/** Sources of a step besides its own event. */
export interface Surroundings {
  readonly graphId: string;
  nodesOn(key: CheckpointKey): Awaitable<readonly string[] | undefined>;
  /** The run's event behind the checkpoint: its next one in the same graph, or its end. */
  following(): Awaitable<ThreadEvent | undefined>;
  load(): Promise<StoredCheckpoint | undefined>;
  /** Whether the run's graph is a plain function. */
  isFunction(): Promise<boolean>;
}

type Awaitable<T> = T | Promise<T>;

export const follows = ({ runId, ns }: Saved, { type, data }: ThreadEvent): boolean =>
  (type === 'CheckpointSaved' && data.runId === runId && data.ns === ns) ||
  (type === 'RunCompleted' && data.runId === runId);

export async function stepOf(saved: Saved, around: Surroundings): Promise<Step> {
  const { ns, parentId, source } = saved;
  const before = parentId === null ? undefined : await around.nodesOn({ ns, checkpointId: parentId });
  const step = { graph: nodePathOf(ns), source, nodes: before ?? [] };
  const after = await around.nodesOn(saved);
  if (after !== undefined) return { ...step, next: after };
  const then = await around.following();
  const ended = then?.type === 'RunCompleted' ? nextOfEnd(then.data.outcome) : undefined;
  if (before === undefined && (await around.isFunction())) {
    const { graphId } = around;
    return { ...step, nodes: source === 'loop' ? [graphId] : [], next: ended ?? [graphId] };
  }
  if (then?.type === 'CheckpointSaved') return step;
  if (ended !== undefined) return { ...step, next: ns === '' ? ended : [] };
  const checkpoint = await around.load();
  return checkpoint === undefined ? step : { ...step, next: pendingNodes(checkpoint) };
}

const checkpointsIn = ({ type, data }: ThreadEvent): readonly SavedCheckpoint[] =>
  type === 'CheckpointSaved' ? [data] : type === 'StateUpdated' ? data.checkpoints : [];

const nextOfEnd = (outcome: (ThreadEvent & { type: 'RunCompleted' })['data']['outcome']) =>
  outcome.kind === 'success' || outcome.kind === 'cancelled' ? outcome.next : undefined;

/** Groups nodes by the checkpoint that their tasks wrote on. */
async function openTasks(history: History, threadId: string, checkpoints: readonly SavedCheckpoint[]) {
  const tasks = Map.groupBy(await history.past.tasks(threadId), (task) => keyOf(task));
  const parents = new Map(
    checkpoints.flatMap(({ ns, checkpointId, parentId }) =>
      parentId === null ? [] : [[keyOf({ ns, checkpointId }), keyOf({ ns, checkpointId: parentId })]],
    ),
  );
  return (ns: string, checkpointId: string): string[] | undefined => {
    const key = keyOf({ ns, checkpointId });
    const called = (tasks.get(parents.get(key) ?? '') ?? []).flatMap(({ sends }) =>
      sends.map((send) => nodeOfSend(parseStored(send))),
    );
    return tasks.get(key)?.flatMap(({ path }) => nodeOfPath(path, called) ?? []);
  };
}

/**
 * Milliseconds since the previous checkpoint, or since the attempt's start if that is later. `at` and `startedAt` are
 * times of the log; checkpoints have those of the machine that executed, whose clock may be behind.
 */
export function stepTime(
  { checkpointId, parentId }: SavedCheckpoint,
  at: number,
  startedAt: number,
): number | undefined {
  const made = uuidTime(checkpointId);
  const parent = parentId === null ? undefined : uuidTime(parentId);
  if (made === undefined || made < (parent ?? 0)) return undefined;
  if (made >= startedAt) return made - Math.max(startedAt, parent ?? 0);
  return parent === undefined || at <= startedAt ? undefined : Math.min(made - parent, at - startedAt);
}

/**
 * Returns nodes whose triggers are set but that have not written: they are running, or ran when the server died. Empty
 * for library versions with other trigger names.
 */
function pendingNodes({ body, blobs }: StoredCheckpoint): string[] {
  const { versions_seen } = JSON.parse(body) as { versions_seen?: Json };
  const isNew = (node: string, channel: string, version: string): boolean => {
    const seen = isObject(versions_seen) ? versions_seen[node] : undefined;
    return !isObject(seen) || typeof seen[channel] !== 'string' || seen[channel] < version;
  };
  return blobs.flatMap(({ channel, version, data }) => {
    if (channel === SENDS) return (JSON.parse(data) as Json[]).map(nodeOfSend);
    const [, sources, node] = /^(?:branch:to|join:(.+)):([^:]+)$/.exec(channel) ?? [];
    if (node === undefined || !isNew(node, channel, version)) return [];
    const arrived = JSON.parse(data) as Json;
    const isComplete =
      sources === undefined || (Array.isArray(arrived) && arrived.length === sources.split('+').length);
    return isComplete ? [node] : [];
  });
}
