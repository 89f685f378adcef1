/**
 * Routes that create, update and delete crons. A2, A3 The creator must be allowed to read the cron's thread and
 * assistant; a hidden one and a missing one look the same.
 */
import { Hono } from 'hono';
import type { Actor } from '../../auth/authenticate.ts';
import type { CronContent } from '../../cron/events.ts';
import { toTimestamp } from '../../kernel/clock.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import { getCron, type CronRecord } from '../../projections/cron-queries.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { CONFLICT } from '../../actors/aggregate.ts';
import type { Append } from '../../log/log.ts';
import { threadStream } from '../../thread/events.ts';
import { isLiving } from '../../thread/state.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { checkTimes, grantedCron, newSecret, payloadOf, renewedSecret } from './content.ts';
import { emptyBody, noContent, noCron, noThread } from '../replies.ts';
import { checkWebhook } from '../runs/checks.ts';
import { findAssistantToRun } from '../runs/creation.ts';
import { check, pathUuid } from '../check.ts';
import { cronCreate, cronPatch } from './schemas.ts';
import { toCron } from '../serializers.ts';

export function cronChangeRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, clock, crons, ids } = context;

  async function find(cronId: string, filter?: Parameters<typeof getCron>[2]): Promise<CronRecord> {
    const cron = await getCron(log.rows, cronId, filter);
    if (cron === undefined) throw noCron(cronId);
    return cron;
  }

  async function create(actor: Actor, body: Json | undefined, threadId: string | null): Promise<JsonObject> {
    const request = check(cronCreate, body ?? {});
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
      payload: payloadOf(cronId, body),
      metadata: request.metadata ?? {},
    });
    if (threadId !== null) {
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      if ((await getThread(log.rows, threadId, filter)) === undefined) throw noThread(threadId);
    }
    const { schedule = request.schedule, payload: left, metadata } = grantedCron(granted);
    const payload = { ...left, assistant_id: assistantId };
    const timezone = request.timezone ?? null;
    const now = clock.now();
    checkTimes({ schedule, timezone, endTime }, now);
    const content: CronContent = {
      ...{ assistantId, threadId, schedule, timezone, endTime, userId, payload, metadata },
      enabled: request.enabled ?? true,
      onRunCompleted: threadId === null ? (request.on_run_completed ?? 'delete') : null,
    };
    const make = async (extraAppends: readonly Append[] = []): Promise<void | typeof CONFLICT> => {
      const command = { type: 'CreateCron', cronId, content, now } as const;
      const done = await crons.dispatch(cronId, command, {
        payloads: newSecret(cronId, actor),
        extraAppends,
      });
      if (done.ok) return;
      if (done.refusal.code === 'concurrency-conflict') return CONFLICT;
      throw new Error(`cron ${cronId} cannot be made: ${done.refusal.code}`);
    };
    if (threadId === null) await make();
    else
      // Deleting a thread deletes its crons. The expected version prevents adding one during the deletion.
      await context.threads.runExclusive(threadId, async ({ state, version }) => {
        if (!isLiving(state)) throw noThread(threadId);
        return make([{ stream: threadStream(threadId), expected: version, events: [] }]);
      });
    return toCron(await find(cronId));
  }

  app.post('/runs/crons', async (c) => c.json(await create(c.var.actor, c.var.body, null)));

  app.post('/threads/:thread_id/runs/crons', async (c) =>
    c.json(await create(c.var.actor, c.var.body, pathUuid(c.req.param('thread_id'), 'thread_id'))),
  );

  app.patch('/runs/crons/:cron_id', async (c) => {
    const cronId = pathUuid(c.req.param('cron_id'), 'cron_id');
    const { actor, body } = c.var;
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
    const cron = await find(cronId, granted.filter);
    const { schedule, payload, metadata } = grantedCron(granted, cron.metadata);
    const isKept = cron.threadId !== null || request.on_run_completed === undefined;
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
    const now = clock.now();
    // An `end_time` in the past is accepted unless the patch sets it.
    checkTimes({ ...cron, ...changes, endTime: endTime ?? null }, now);
    const payloads = await renewedSecret(context, cron, actor);
    const done = await crons.dispatch(cronId, { type: 'UpdateCron', changes, now }, { payloads });
    if (!done.ok) throw noCron(cronId);
    return c.json(toCron(await find(cronId)));
  });

  app.delete('/runs/crons/:cron_id', async (c) => {
    const cronId = pathUuid(c.req.param('cron_id'), 'cron_id');
    const { filter } = await authorise(context, c.var.actor, 'crons:delete', { cron_id: cronId });
    await find(cronId, filter);
    const done = await crons.dispatch(cronId, { type: 'DeleteCron' });
    if (!done.ok) throw noCron(cronId);
    return noContent();
  });

  return app;
}
