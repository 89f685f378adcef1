/** Routes that create or cancel many runs in one request. */
import { Hono } from 'hono';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { runsToCancel } from '../../projections/run-queries.ts';
import { stopReason } from '../../thread/run-end.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { partOf, toIdempotencyKey } from './idempotency.ts';
import { readQuery } from '../query.ts';
import { noContent, noRun, refused } from '../replies.ts';
import { prepareRun, shownRun, type Created } from './creation.ts';
import { check } from '../check.ts';
import { cancelMany, cancelManyQuery, runBatch } from './schemas.ts';
import { toRun } from '../serializers.ts';

export function runGroupRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threads } = context;

  app.post('/runs/batch', async (c) => {
    check(runBatch, c.var.body ?? []);
    const accept: (() => Promise<Created>)[] = [];
    // All runs are checked before the first is accepted: an invalid batch creates nothing.
    const idempotencyKey = toIdempotencyKey(c.req.header('idempotency-key'), c.var.actor, [
      'batch',
      c.var.body ?? [],
    ]);
    for (const [index, body] of (c.var.body as Json[]).entries())
      accept.push(
        await prepareRun(context, c.var.actor, body, undefined, {
          idempotencyKey: idempotencyKey && partOf(idempotencyKey, index),
        }),
      );
    const created: JsonObject[] = [];
    for (const next of accept) created.push(toRun(await shownRun(context, await next())));
    return c.json(created);
  });

  app.post('/runs/cancel', async (c) => {
    const { action = 'interrupt' } = check(cancelManyQuery, readQuery(c.req.url, { action: 'text' }));
    const { status, thread_id: threadId, run_ids: runIds } = check(cancelMany, c.var.body ?? {});
    const { filter } = await authorise(context, c.var.actor, 'threads:update', {
      ...(threadId !== undefined && { thread_id: threadId }),
      action,
      metadata: { ...(runIds !== undefined && { run_ids: runIds }), status: status ?? 'pending' },
    });
    const found = await runsToCancel(
      log.rows,
      {
        ...(threadId !== undefined && { threadId }),
        ...(runIds !== undefined ? { runIds } : { status: status ?? 'all' }),
      },
      filter,
    );
    for (const { runId, threadId: at } of found) {
      const done = await threads.dispatch(at, [
        { type: 'RequestCancel', runId, action, reason: stopReason.cancelMany(action) },
      ]);
      // A run that has ended meanwhile is no error.
      if (!done.ok && done.refusal.code !== 'run-not-open') throw refused(done.refusal, at);
    }
    // A missing run is reported only after the others are cancelled.
    if (runIds !== undefined && found.length < new Set(runIds).size) throw noRun();
    return noContent();
  });

  return app;
}
