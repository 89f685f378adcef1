/** Reading a thread's states, now and in the past, and writing into them between runs. */
import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { StateOrder } from '../../graphs/port.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { findReadable } from '../readable-thread.ts';
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
import { check, pathUuid } from '../schemas/common.ts';
import {
  historyQuery,
  statePatch,
  stateQuery,
  stateUpdate,
  type CheckpointChoice,
} from '../schemas/thread-state.ts';
import { updateState } from '../state-update.ts';
import { checkpointsOf, findThreadGraph, type ThreadGraph } from '../thread-graph.ts';
import { emptyState, toCheckpoint, toState } from '../wire.ts';

interface Place {
  readonly ns: string;
  readonly checkpointId?: string;
}

export function threadStateRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();

  async function readState(actor: Actor, threadId: string, place: Place, subgraphs: boolean) {
    const { thread, still } = await findReadable(context, actor, threadId);
    const checkpoints = checkpointsOf(context, threadId);
    const { ns, checkpointId } = place;
    if (checkpointId !== undefined && (await checkpoints.load(ns, checkpointId)) === undefined)
      throw noCheckpoint(checkpointId);
    if (thread.head === null) return emptyState;
    const graph = await findThreadGraph(context, actor, threadId, thread.metadata);
    if (graph === undefined) return emptyState;
    const asked = context.graphs.state(toOrder(threadId, graph, place, subgraphs), checkpoints);
    return toState(threadId, await still(asked));
  }

  app.get('/threads/:thread_id/state', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { subgraphs } = readQuery(new URL(c.req.url), { subgraphs: 'boolean' });
    return jsonReply(await readState(c.var.actor, threadId, { ns: '' }, subgraphs === true));
  });

  app.get('/threads/:thread_id/state/:checkpoint_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const checkpointId = pathUuid(c.req.param('checkpoint_id'), 'checkpoint_id');
    const { subgraphs } = readQuery(new URL(c.req.url), { subgraphs: 'boolean' });
    return jsonReply(await readState(c.var.actor, threadId, { ns: '', checkpointId }, subgraphs === true));
  });

  app.post('/threads/:thread_id/state/checkpoint', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { checkpoint, subgraphs = false } = check(stateQuery, c.var.body ?? {});
    return jsonReply(await readState(c.var.actor, threadId, toPlace(checkpoint), subgraphs));
  });

  app.post('/threads/:thread_id/state', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const body = check(stateUpdate, c.var.body ?? {});
    await findReadable(context, c.var.actor, threadId);
    const granted = await authorise(context, c.var.actor, 'threads:update', { thread_id: threadId });
    const thread = await getThread(context.log.rows, threadId, granted.filter);
    // It was just read: what its caller may see and not change is forbidden rather than missing.
    if (thread === undefined) throw notAuthorized();
    if (thread.status === 'busy') throw stateBusy();
    const graph = await findThreadGraph(context, c.var.actor, threadId, thread.metadata);
    if (graph === undefined) throw noGraphId(threadId);
    const place = toPlace({ checkpoint_id: body.checkpoint_id, ...body.checkpoint });
    const update = {
      values: body.values ?? null,
      ...(body.as_node !== undefined && { asNode: body.as_node }),
    };
    const updated = await updateState(context, c.var.actor, {
      threadId,
      graph,
      ...place,
      supersteps: [[update]],
    });
    // Clients read the place under any of these names.
    const checkpoint = toCheckpoint(threadId, updated);
    const { checkpoint_map: map = null, ...where } = checkpoint ?? {};
    const configurable = map === null ? where : { ...where, checkpoint_map: map };
    return c.json({ checkpoint, configurable, checkpoint_id: updated.id });
  });

  app.patch('/threads/:thread_id/state', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const body = check(statePatch, c.var.body ?? {});
    const granted = await authorise(context, c.var.actor, 'threads:update', {
      thread_id: threadId,
      metadata: body.metadata ?? {},
    });
    const thread = await getThread(context.log.rows, threadId, granted.filter);
    if (thread === undefined) throw noThread(threadId);
    const metadata = grantedMetadata(granted, thread.metadata);
    const done = await context.threads.dispatch(threadId, [{ type: 'UpdateThread', metadata }]);
    if (!done.ok) throw refused(done.refusal, threadId);
    return noContent();
  });

  async function history(actor: Actor, threadId: string, query: ReturnType<typeof readHistory>) {
    const { thread, still } = await findReadable(context, actor, threadId);
    const graph = await findThreadGraph(context, actor, threadId, thread.metadata);
    if (thread.head === null || graph === undefined) return [];
    const { limit, before, metadata, checkpoint } = query;
    const asked = context.graphs.history(
      {
        ...toOrder(threadId, graph, toPlace(checkpoint), false),
        limit,
        ...(before !== undefined && { before }),
        ...(metadata !== undefined && { metadata }),
      },
      checkpointsOf(context, threadId),
    );
    const states = await still(asked);
    if (states === 'too-large') throw pageTooLarge('The states that are asked for', 'Ask for fewer.');
    return states.map((state) => toState(threadId, state));
  }

  app.get('/threads/:thread_id/history', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const given = readQuery(new URL(c.req.url), {
      limit: 'number',
      before: 'text',
      metadata: 'json',
      checkpoint: 'json',
    });
    return jsonReply(await history(c.var.actor, threadId, readHistory(given, 10)));
  });

  app.post('/threads/:thread_id/history', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    return jsonReply(await history(c.var.actor, threadId, readHistory(c.var.body ?? {}, 1)));
  });

  return app;
}

const readHistory = (given: unknown, byDefault: number) => check(historyQuery(byDefault), given);

/** Within a namespace without an id, the map may say which checkpoint is meant there. */
function toPlace(choice: Partial<CheckpointChoice> | undefined): Place {
  const { checkpoint_ns: ns = '', checkpoint_id: id, checkpoint_map: map } = choice ?? {};
  const mapped = map !== undefined && Object.hasOwn(map, ns) ? map[ns] : undefined;
  const checkpointId = id ?? (typeof mapped === 'string' && mapped !== '' ? mapped : undefined);
  return { ns, ...(checkpointId !== undefined && { checkpointId }) };
}

const toOrder = (threadId: string, graph: ThreadGraph, place: Place, subgraphs: boolean): StateOrder => ({
  ...graph,
  threadId,
  ...place,
  subgraphs,
});
