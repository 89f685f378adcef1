/** Routes that read a thread's current and earlier states and update its state between runs. */
import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { StateOrder } from '../../graphs/port.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { authorise, grantedMetadata } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { findReadable } from './readable-thread.ts';
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
import { check, pathUuid } from '../check.ts';
import {
  historyQuery,
  stateChoice,
  statePatch,
  stateQuery,
  stateUpdate,
  type CheckpointChoice,
  type StateChoice,
} from './state-schemas.ts';
import { selectMembers, toPart } from './state-part.ts';
import { updateState } from './state-update.ts';
import { checkpointsOf, findThreadGraph, type ThreadGraph } from './thread-graph.ts';
import { emptyState, toCheckpoint, toState } from '../serializers.ts';

interface CheckpointRef {
  readonly ns: string;
  readonly checkpointId?: string;
}

/** Loads a checkpoint without its values, to test whether it exists. */
const NO_VALUES = { names: [], written: false };

export function threadStateRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();

  async function readState(actor: Actor, threadId: string, place: CheckpointRef, choice: StateChoice) {
    const { thread, ifStillReadable } = await findReadable(context, actor, threadId);
    const checkpoints = checkpointsOf(context, threadId);
    const { ns, checkpointId } = place;
    if (checkpointId !== undefined && (await checkpoints.load(ns, checkpointId, NO_VALUES)) === undefined)
      throw noCheckpoint(checkpointId);
    const graph =
      thread.head === null ? undefined : await findThreadGraph(context, actor, threadId, thread.metadata);
    if (graph === undefined) return selectMembers(emptyState, choice.select);
    const asked = context.graphs.state(toOrder(threadId, graph, place, choice), checkpoints);
    return selectMembers(toState(threadId, await ifStillReadable(asked)), choice.select);
  }

  app.get('/threads/:thread_id/state', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    return jsonReply(await readState(c.var.actor, threadId, { ns: '' }, readChoice(c.req.url)));
  });

  app.get('/threads/:thread_id/state/:checkpoint_id', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const checkpointId = pathUuid(c.req.param('checkpoint_id'), 'checkpoint_id');
    const place = { ns: '', checkpointId };
    return jsonReply(await readState(c.var.actor, threadId, place, readChoice(c.req.url)));
  });

  app.post('/threads/:thread_id/state/checkpoint', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const { checkpoint, ...choice } = check(stateQuery, c.var.body ?? {});
    return jsonReply(await readState(c.var.actor, threadId, toCheckpointRef(checkpoint), choice));
  });

  app.post('/threads/:thread_id/state', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const body = check(stateUpdate, c.var.body ?? {});
    await findReadable(context, c.var.actor, threadId);
    const granted = await authorise(context, c.var.actor, 'threads:update', { thread_id: threadId });
    const thread = await getThread(context.log.rows, threadId, granted.filter);
    // The caller may read the thread, so the reply is 403 and not 404 (A3).
    if (thread === undefined) throw notAuthorized();
    if (thread.status === 'busy') throw stateBusy();
    const graph = await findThreadGraph(context, c.var.actor, threadId, thread.metadata);
    if (graph === undefined) throw noGraphId(threadId);
    const place = toCheckpointRef({ checkpoint_id: body.checkpoint_id, ...body.checkpoint });
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
    // Clients read the new checkpoint under any of these names.
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

  app.get('/threads/:thread_id/history', async (c) => {
    const threadId = pathUuid(c.req.param('thread_id'), 'thread_id');
    const given = readQuery(c.req.url, {
      limit: 'number',
      before: 'text',
      metadata: 'json',
      checkpoint: 'json',
      select: 'list',
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

/** The checkpoint that a client names. Without an id, `checkpoint_map` may hold the id for the namespace. */
function toCheckpointRef(choice: Partial<CheckpointChoice> | undefined): CheckpointRef {
  const { checkpoint_ns: ns = '', checkpoint_id: id, checkpoint_map: map } = choice ?? {};
  const mapped = map !== undefined && Object.hasOwn(map, ns) ? map[ns] : undefined;
  const checkpointId = id ?? (typeof mapped === 'string' && mapped !== '' ? mapped : undefined);
  return { ns, ...(checkpointId !== undefined && { checkpointId }) };
}

const readChoice = (url: string): StateChoice =>
  check(stateChoice, readQuery(url, { subgraphs: 'boolean', select: 'list' }));

function toOrder(
  threadId: string,
  graph: ThreadGraph,
  place: CheckpointRef,
  choice: StateChoice,
): StateOrder {
  const { subgraphs = false, select } = choice;
  const part = toPart(select);
  // States of subgraphs are part of the tasks.
  const isNested = subgraphs && part?.tasks !== false;
  return { ...graph, threadId, ...place, subgraphs: isNested, ...(part !== undefined && { part }) };
}
