/**
 * Applies a client's state update in one commit. The graph computes the new checkpoints in a buffer, and the thread's
 * actor accepts or refuses them. The fact is committed together with the checkpoints (D1, L1).
 *
 * After a concurrency conflict the result is discarded and computed again.
 */
import type { Actor } from '../../auth/authenticate.ts';
import type { CheckpointReader, CheckpointRef } from '../../graphs/port.ts';
import type { GraphUpdate, Saved, Updated, UpdateOrder } from '../../graphs/state-port.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { PayloadWrite } from '../../store/port/payloads.ts';
import type { ThreadCommand } from '../../thread/decide.ts';
import { threadStream } from '../../thread/events.ts';
import type { ServerContext } from '../context.ts';
import { noCheckpoint, refused, stateBusy, updateRefused } from '../replies.ts';
import { checkpointsOf, type ThreadGraph } from './thread-graph.ts';

export interface StateChange {
  readonly threadId: string;
  readonly graph: ThreadGraph;
  readonly ns: string;
  readonly checkpointId?: string;
  readonly supersteps: readonly (readonly GraphUpdate[])[];
}

export interface ComputedUpdate {
  readonly command: ThreadCommand;
  readonly payloads: readonly PayloadWrite[];
  readonly place: CheckpointRef;
}

/** Maximum tries of an update that meets concurrency conflicts. */
const MAX_TRIES = 5;

/** Commits the change and returns its last checkpoint. Throws a 409, and saves nothing, while a run is open. */
export async function updateState(
  context: ServerContext,
  actor: Actor,
  change: StateChange,
): Promise<CheckpointRef> {
  const { threadId, ns, checkpointId } = change;
  const checkpoints = checkpointsOf(context, threadId);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // The version is read before the state: a change of the thread in between then causes a concurrency conflict.
    const expectedVersion = await context.log.streamVersion(threadStream(threadId));
    if (checkpointId !== undefined && (await checkpoints.load(ns, checkpointId)) === undefined)
      throw noCheckpoint(checkpointId);
    const { command, payloads, place } = await computeUpdate(context, actor, change, checkpoints);
    const done = await context.threads.dispatch(threadId, [command], {
      payloads,
      expectedVersion,
      by: actor.user?.identity,
    });
    if (done.ok) return place;
    if (done.refusal.code === 'thread-busy') throw stateBusy();
    if (done.refusal.code !== 'thread-changed') throw refused(done.refusal, threadId);
  }
  throw stateBusy();
}

/** Lets the graph compute the change, without saving it. Throws a 400 with the graph's message when it refuses. */
export async function computeUpdate(
  context: ServerContext,
  actor: Actor,
  { threadId, graph, ns, checkpointId, supersteps }: StateChange,
  checkpoints: CheckpointReader,
): Promise<ComputedUpdate> {
  const updateId = context.ids.uuid();
  const head = await checkpoints.load('');
  const updated = await context.graphs.update(
    toOrder(
      actor,
      { threadId, graph, ns, ...(checkpointId !== undefined && { checkpointId }), supersteps },
      updateId,
    ),
    checkpoints,
  );
  if (updated.kind === 'refused') throw updateRefused(updated.message);
  const { saved, place } = updated;
  const places = saved.flatMap((each) => (each.kind === 'checkpoint' ? [each.checkpoint] : []));
  const root = places.findLast((checkpoint) => checkpoint.ns === '');
  return {
    place,
    payloads: saved.map((each) => toPayload(each, threadId, updateId)),
    command: {
      type: 'UpdateState',
      updateId,
      checkpoints: places.map(({ checkpointId: id, parentId, ns: at, step, source }) => ({
        ...{ checkpointId: id, parentId, ns: at, step, source },
      })),
      head: root?.checkpointId ?? head?.checkpointId ?? null,
      next: updated.next,
      interrupts: toJson(updated),
    },
  };
}

const toOrder = (
  { user }: Actor,
  { threadId, graph, ns, checkpointId, supersteps }: StateChange,
  updateId: string,
): UpdateOrder => ({
  graphId: graph.graphId,
  threadId,
  ns,
  ...(checkpointId !== undefined && { checkpointId }),
  subgraphs: false,
  config: {
    configurable: { ...(user && { user_id: user.identity }), ...graph.config.configurable },
    ...(graph.config.madeWith && { madeWith: graph.config.madeWith }),
    metadata: graph.config.metadata,
  },
  ...(graph.context !== undefined && { context: graph.context }),
  ...(user && { user }),
  updateId,
  supersteps,
});

const toPayload = (saved: Saved, threadId: string, runId: string): PayloadWrite =>
  saved.kind === 'checkpoint'
    ? { kind: 'checkpoint', threadId, runId, checkpoint: saved.checkpoint }
    : {
        kind: 'checkpoint-writes',
        threadId,
        runId,
        ns: saved.ns,
        checkpointId: saved.checkpointId,
        writes: saved.writes,
      };

const toJson = ({ interrupts }: Extract<Updated, { kind: 'updated' }>): JsonObject =>
  Object.fromEntries(Object.entries(interrupts).map(([task, waiting]) => [task, [...waiting]]));
