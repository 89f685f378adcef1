/** Endpoints that read a thread's current and earlier states and update its state between runs. */
import { z } from 'zod';
import type { Actor } from '../../auth/authenticate.ts';
import type { StateOrder } from '../../graphs/port.ts';
import { authorise, grantedMetadata } from '../access.ts';
import { checkServed } from '../assistants/served-graph.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { jsonObject } from '../fields.ts';
import { json, nothing, problems } from '../openapi/descriptions.ts';
import {
  jsonReply,
  noCheckpoint,
  noContent,
  noGraphId,
  noThread,
  notAuthorized,
  pageTooLarge,
  refused,
  stateBusy,
} from '../replies.ts';
import { findReadable } from './readable-thread.ts';
import { selectMembers, toPart } from './state-part.ts';
import {
  historyBody,
  historyQuery,
  momentChoice,
  stateChoice,
  statePatch,
  stateQuery,
  stateUpdate,
  type CheckpointChoice,
  type HistorySearch,
  type StateChoice,
} from './state-schemas.ts';
import { checkpoint, emptyState, threadState, toCheckpoint, toState } from './state-shapes.ts';
import { updateState } from './state-update.ts';
import { readVersion, versionState } from './state-version.ts';
import { checkpointsOf, findThreadGraph, type ThreadGraph } from './thread-graph.ts';

interface CheckpointRef {
  readonly ns: string;
  readonly checkpointId?: string;
}

/** Loads a checkpoint without its values, to test whether it exists. */
const NO_VALUES = { names: [], written: false };

const STATE = { 200: json(threadState, 'The state'), ...problems(404) };
const HISTORY = { 200: json(z.array(threadState), 'The states, newest first'), ...problems(404) };

export const threadStateEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Get the state of a thread',
    description:
      'With `version`, the state after that event of the thread: `changes` lists what differs from the version `from`.',
    query: momentChoice,
    replies: { 200: json(z.union([threadState, versionState]), 'The state'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, query: { version, from, ...choice } }) {
      const state =
        version === undefined
          ? await readState(context, actor, threadId, { ns: '' }, choice)
          : selectMembers(await readVersion(context, actor, threadId, { version, from }), choice.select);
      return jsonReply(state);
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/state/{checkpoint_id}',
    tag: 'threads',
    summary: 'Get the state at a checkpoint',
    query: stateChoice,
    replies: STATE,
    async handle({ context, actor, params: { thread_id: threadId, checkpoint_id: checkpointId }, query }) {
      return jsonReply(await readState(context, actor, threadId, { ns: '', checkpointId }, query));
    },
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/state/checkpoint',
    changes: false,
    tag: 'threads',
    summary: 'Get the state at a checkpoint or of a subgraph',
    description:
      'Without `checkpoint_id`, the newest state of the namespace; without a checkpoint, the state of the thread.',
    body: stateQuery,
    replies: STATE,
    async handle({ context, actor, params, body: { checkpoint: wanted, ...choice } }) {
      return jsonReply(await readState(context, actor, params.thread_id, toCheckpointRef(wanted), choice));
    },
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Update the state of a thread',
    description:
      'The effect is that of the node `as_node` returning `values`. Not possible while a run is open. The status of the thread follows the new checkpoint.',
    body: stateUpdate,
    replies: {
      200: json(
        z.object({ checkpoint, configurable: jsonObject, checkpoint_id: z.string().nullable() }),
        'The new checkpoint',
      ),
      ...problems(400, 404, 409),
    },
    async handle({ context, actor, params: { thread_id: threadId }, body }) {
      await findReadable(context, actor, threadId);
      const granted = await authorise(context, actor, 'threads:update', { thread_id: threadId });
      const thread = await context.log.views.threads.get(threadId, granted.filter);
      // The caller may read the thread, so the reply is 403 and not 404 (A3).
      if (thread === undefined) throw notAuthorized();
      if (thread.status === 'busy') throw stateBusy();
      const graph = await findThreadGraph(context, actor, threadId, thread.metadata);
      if (graph === undefined) throw noGraphId(threadId);
      checkServed(context, graph.graphId);
      const ref = toCheckpointRef({ checkpoint_id: body.checkpoint_id, ...body.checkpoint });
      const update = {
        values: body.values ?? null,
        ...(body.as_node !== undefined && { asNode: body.as_node }),
      };
      const updated = await updateState(context, actor, {
        threadId,
        graph,
        ...ref,
        supersteps: [[update]],
      });
      // Clients read the new checkpoint under any of these names.
      const created = toCheckpoint(threadId, updated);
      const { checkpoint_map: map = null, ...where } = created ?? {};
      const configurable = map === null ? where : { ...where, checkpoint_map: map };
      return jsonReply({ checkpoint: created, configurable, checkpoint_id: updated.id });
    },
  }),
  endpoint({
    method: 'patch',
    path: '/threads/{thread_id}/state',
    tag: 'threads',
    summary: 'Change the metadata of a thread',
    body: statePatch,
    replies: { 204: nothing('Changed'), ...problems(404) },
    async handle({ context, actor, params: { thread_id: threadId }, body }) {
      const granted = await authorise(context, actor, 'threads:update', {
        thread_id: threadId,
        metadata: body.metadata ?? {},
      });
      const thread = await context.log.views.threads.get(threadId, granted.filter);
      if (thread === undefined) throw noThread(threadId);
      const metadata = grantedMetadata(granted, thread.metadata);
      const done = await context.threads.dispatch(threadId, [{ type: 'UpdateThread', metadata }], {
        by: actor.user?.identity,
      });
      if (!done.ok) throw refused(done.refusal, threadId);
      return noContent();
    },
  }),
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/history',
    tag: 'threads',
    summary: 'List the states of a thread',
    query: historyQuery,
    replies: HISTORY,
    handle: async ({ context, actor, params, query }) =>
      jsonReply(await readHistory(context, actor, params.thread_id, query)),
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/history',
    changes: false,
    tag: 'threads',
    summary: 'Search the states of a thread',
    body: historyBody,
    replies: HISTORY,
    handle: async ({ context, actor, params, body }) =>
      jsonReply(await readHistory(context, actor, params.thread_id, body)),
  }),
];

async function readState(
  context: ServerContext,
  actor: Actor,
  threadId: string,
  ref: CheckpointRef,
  choice: StateChoice,
) {
  const { thread, ifStillReadable } = await findReadable(context, actor, threadId);
  const checkpoints = checkpointsOf(context, threadId);
  const { ns, checkpointId } = ref;
  if (checkpointId !== undefined && (await checkpoints.load(ns, checkpointId, NO_VALUES)) === undefined)
    throw noCheckpoint(checkpointId);
  const graph =
    thread.head === null ? undefined : await findThreadGraph(context, actor, threadId, thread.metadata);
  if (graph === undefined) return selectMembers(emptyState, choice.select);
  const asked = context.graphs.state(toOrder(threadId, graph, ref, choice), checkpoints);
  return selectMembers(toState(threadId, await ifStillReadable(asked)), choice.select);
}

async function readHistory(context: ServerContext, actor: Actor, threadId: string, query: HistorySearch) {
  const { thread, ifStillReadable } = await findReadable(context, actor, threadId);
  const graph = await findThreadGraph(context, actor, threadId, thread.metadata);
  if (thread.head === null || graph === undefined) return [];
  const { limit, before, metadata, checkpoint, select } = query;
  const asked = context.graphs.history(
    {
      ...toOrder(threadId, graph, toCheckpointRef(checkpoint), { select, subgraphs: false }),
      limit,
      ...(before !== undefined && { before }),
      ...(metadata !== undefined && { metadata }),
    },
    checkpointsOf(context, threadId),
  );
  const states = await ifStillReadable(asked);
  if (states === 'too-large') throw pageTooLarge('The states that are asked for', 'Ask for fewer.');
  return states.map((state) => selectMembers(toState(threadId, state), select));
}

/** The checkpoint that a client names. Without an id, `checkpoint_map` may hold the id for the namespace. */
function toCheckpointRef(choice: Partial<CheckpointChoice> | undefined): CheckpointRef {
  const { checkpoint_ns: ns = '', checkpoint_id: id, checkpoint_map: map } = choice ?? {};
  const mapped = map !== undefined && Object.hasOwn(map, ns) ? map[ns] : undefined;
  const checkpointId = id ?? (typeof mapped === 'string' && mapped !== '' ? mapped : undefined);
  return { ns, ...(checkpointId !== undefined && { checkpointId }) };
}

function toOrder(threadId: string, graph: ThreadGraph, ref: CheckpointRef, choice: StateChoice): StateOrder {
  const { subgraphs = false, select } = choice;
  const part = toPart(select);
  // States of subgraphs are part of the tasks.
  const isNested = subgraphs && part?.tasks !== false;
  return { ...graph, threadId, ...ref, subgraphs: isNested, ...(part !== undefined && { part }) };
}
