/**
 * Endpoints that create, update and delete crons. A2, A3 The creator must be allowed to read the cron's thread and
 * assistant; a hidden one and a missing one look the same.
 */
import type { Filter } from '../../kernel/filter.ts';
import type { z } from 'zod';
import { CONFLICT } from '../../actors/aggregate.ts';
import type { CronDispatched } from '../../actors/crons.ts';
import type { Actor } from '../../auth/authenticate.ts';
import type { CronContent } from '../../cron/events.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { Append } from '../../store/port/log.ts';
import { threadStream } from '../../thread/events.ts';
import { isLiving } from '../../thread/state.ts';
import { authorise } from '../access.ts';
import { check } from '../check.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, problems } from '../openapi/descriptions.ts';
import { emptyBody, jsonReply, noContent, noCron, noThread } from '../replies.ts';
import { checkWebhook } from '../runs/checks.ts';
import { findAssistantToRun } from '../runs/preparation.ts';
import { checkTimes, grantedCron, newSecret, payloadOf, renewedSecret } from './content.ts';
import { cronCreate, cronPatch } from './schemas.ts';
import { cron, toCron } from './shapes.ts';
import type { CronRecord } from '../../store/port/views/crons.ts';

export const cronChangeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/runs/crons',
    tag: 'crons',
    summary: 'Create a cron whose runs get threads of their own',
    description: '`on_run_completed` decides whether such a thread is deleted when its run ends.',
    body: cronCreate,
    replies: { 200: json(cron, 'The cron'), ...problems(404) },
    handle: ({ context, actor, body, c }) => createCron(context, actor, body, c.var.body, null),
  }),
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/runs/crons',
    tag: 'crons',
    summary: 'Create a cron on a thread',
    description: 'It is deleted with the thread. `on_run_completed` has no effect here.',
    body: cronCreate,
    replies: { 200: json(cron, 'The cron'), ...problems(404) },
    handle: ({ context, actor, params, body, c }) =>
      createCron(context, actor, body, c.var.body, params.thread_id),
  }),
  endpoint({
    method: 'patch',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Change a cron',
    description:
      '`metadata` is merged key by key; every other member replaces the old one. `"end_time": null` removes the end.',
    describedBody: cronPatch,
    replies: { 200: json(cron, 'The cron'), ...problems(400, 404) },
    async handle({ context, actor, params: { cron_id: cronId }, c }) {
      const { body } = c.var;
      if (!isObject(body) || Object.keys(body).length === 0) throw emptyBody();
      const request = check(cronPatch, body);
      checkWebhook(context, request.webhook);
      const { assistant_id: assistant, timezone, enabled, end_time: endTime } = request;
      const granted = await authorise(context, actor, 'crons:update', {
        cron_id: cronId,
        schedule: request.schedule ?? null,
        end_time: endTime === undefined || endTime === null ? null : toTimestamp(endTime),
        enabled: enabled ?? null,
        on_run_completed: request.on_run_completed ?? null,
        // A patch without `config` keeps the settings, which contain `cron_id`.
        payload: isObject(body['config']) ? payloadOf(cronId, body) : body,
        metadata: request.metadata ?? {},
      });
      const before = await findCron(context, cronId, granted.filter);
      const { schedule, payload, metadata } = grantedCron(granted, before.metadata);
      const isKept = before.threadId !== null || request.on_run_completed === undefined;
      const other = assistant && (await findAssistantToRun(context, actor, assistant)).assistantId;
      const changes: Partial<CronContent> = {
        ...(other !== undefined && { assistantId: other }),
        ...(schedule !== undefined && { schedule }),
        ...(timezone !== undefined && { timezone }),
        ...(enabled !== undefined && { enabled }),
        ...(endTime !== undefined && { endTime }),
        ...(!isKept && { onRunCompleted: request.on_run_completed! }),
        payload: { ...payload, ...(other !== undefined && { assistant_id: other }) },
        metadata,
      };
      // An `end_time` in the past is accepted unless the patch sets it.
      checkTimes({ ...before, ...changes, endTime: endTime ?? null }, context.clock.now());
      const payloads = await renewedSecret(context, before, actor);
      const done = await context.crons.dispatch(
        cronId,
        { type: 'UpdateCron', changes },
        { payloads, by: actor.user?.identity },
      );
      if (!done.ok) throw noCron(cronId);
      return changed(done, before);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/runs/crons/{cron_id}',
    tag: 'crons',
    summary: 'Delete a cron',
    description: 'Runs that it has started continue.',
    replies: { 204: nothing('Deleted'), ...problems(404) },
    async handle({ context, actor, params: { cron_id: cronId } }) {
      const { filter } = await authorise(context, actor, 'crons:delete', { cron_id: cronId });
      await findCron(context, cronId, filter);
      const done = await context.crons.dispatch(cronId, { type: 'DeleteCron' }, { by: actor.user?.identity });
      if (!done.ok) throw noCron(cronId);
      return noContent();
    },
  }),
];

async function findCron({ log }: ServerContext, cronId: string, filter?: Filter): Promise<CronRecord> {
  const found = await log.views.crons.get(cronId, filter);
  if (found === undefined) throw noCron(cronId);
  return found;
}

/** `sent` is the body as the client sent it, which the cron keeps. */
async function createCron(
  context: ServerContext,
  actor: Actor,
  request: z.output<typeof cronCreate>,
  sent: Json | undefined,
  threadId: string | null,
): Promise<Response> {
  const { log, clock, crons, ids } = context;
  checkWebhook(context, request.webhook);
  const { assistantId } = await findAssistantToRun(context, actor, request.assistant_id);
  const cronId = ids.uuid();
  const userId = actor.user?.identity ?? null;
  const endTime = request.end_time ?? null;
  const granted = await authorise(context, actor, 'crons:create', {
    cron_id: cronId,
    thread_id: threadId,
    user_id: userId,
    schedule: request.schedule,
    end_time: endTime === null ? null : toTimestamp(endTime),
    payload: payloadOf(cronId, sent),
    metadata: request.metadata ?? {},
  });
  if (threadId !== null) {
    const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
    if ((await log.views.threads.get(threadId, filter)) === undefined) throw noThread(threadId);
  }
  const { schedule = request.schedule, payload: left, metadata } = grantedCron(granted);
  const payload = { ...left, assistant_id: assistantId };
  const timezone = request.timezone ?? null;
  checkTimes({ schedule, timezone, endTime }, clock.now());
  const content: CronContent = {
    ...{ assistantId, threadId, schedule, timezone, endTime, userId, payload, metadata },
    enabled: request.enabled,
    onRunCompleted: threadId === null ? request.on_run_completed : null,
  };
  const make = (extraAppends: readonly Append[] = []): Promise<CronDispatched> =>
    crons.dispatch(
      cronId,
      { type: 'CreateCron', cronId, content },
      { by: userId ?? undefined, payloads: newSecret(cronId, actor), extraAppends },
    );
  if (threadId === null) return changed(await make());
  // Deleting a thread deletes its crons. The expected version prevents adding one during the deletion.
  return context.threads.runExclusive(threadId, async ({ state, version }) => {
    if (!isLiving(state)) throw noThread(threadId);
    const done = await make([{ stream: threadStream(threadId), expected: version, events: [] }]);
    return !done.ok && done.refusal.code === 'concurrency-conflict' ? CONFLICT : changed(done);
  });
}

/** The cron as the change left it: it may have fired or changed since. */
function changed(done: CronDispatched, before?: CronRecord): Response {
  if (!done.ok || done.state.status !== 'living') throw new Error('a cron cannot be made or changed');
  const { cronId, content, nextAt } = done.state;
  const { refused = null, createdAt = done.at } = before ?? {};
  return jsonReply(toCron({ ...content, cronId, nextAt, refused, createdAt, updatedAt: done.at }));
}
