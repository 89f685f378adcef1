/** Endpoints that create or cancel many runs in one request. */
import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';
import { stopReason } from '../../thread/run-end.ts';
import { authorise } from '../access.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, IDEMPOTENCY_HEADER, problems } from '../openapi/descriptions.ts';
import { jsonReply, noContent, noRun, refused } from '../replies.ts';
import { acceptRun, shownRun } from './creation.ts';
import { partOf, toIdempotencyKey } from './idempotency.ts';
import { prepareRun } from './preparation.ts';
import { cancelMany, cancelManyQuery, runBatch } from './schemas.ts';
import { run, toRun } from './shapes.ts';

export const runGroupEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/runs/batch',
    tag: 'stateless runs',
    summary: 'Start many stateless runs in the background',
    description: 'If one run is refused, none is started.',
    headers: IDEMPOTENCY_HEADER,
    body: runBatch,
    replies: { 200: json(z.array(run), 'The runs, in the order of the request'), ...problems(404) },
    async handle({ context, actor, body, c }) {
      const prepared: Awaited<ReturnType<typeof prepareRun>>[] = [];
      const idempotencyKey = toIdempotencyKey(c.req.header('idempotency-key'), actor, [
        'batch',
        c.var.body ?? [],
      ]);
      // All runs are checked before the first is accepted: an invalid batch creates nothing.
      for (const [index, request] of body.entries())
        prepared.push(
          await prepareRun(context, actor, request, undefined, {
            idempotencyKey: idempotencyKey && partOf(idempotencyKey, index),
          }),
        );
      const created: JsonObject[] = [];
      for (const next of prepared)
        created.push(toRun(await shownRun(context, await acceptRun(context, actor, next))));
      return jsonReply(created);
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/cancel',
    tag: 'runs',
    summary: 'Cancel many runs',
    description: 'With `run_ids`, runs that exist are cancelled even if others are missing.',
    query: cancelManyQuery,
    body: cancelMany,
    replies: { 204: nothing('The runs are being cancelled'), ...problems(404) },
    async handle({ context, actor, query: { action, keep: asked }, body }) {
      const { status, thread_id: threadId, run_ids: runIds, keep = asked } = body;
      const { filter } = await authorise(context, actor, 'threads:update', {
        ...(threadId !== undefined && { thread_id: threadId }),
        action,
        metadata: { ...(runIds !== undefined && { run_ids: runIds }), status: status ?? 'pending' },
      });
      const found = await context.log.views.runs.toCancel(
        {
          ...(threadId !== undefined && { threadId }),
          ...(runIds !== undefined ? { runIds } : { status: status ?? 'all' }),
        },
        filter,
      );
      for (const { runId, threadId: at } of found) {
        const done = await context.threads.dispatch(
          at,
          [
            {
              ...{ type: 'RequestCancel', runId, action, reason: stopReason.cancelMany(action) },
              ...(keep !== undefined && { keep }),
            },
          ],
          { by: actor.user?.identity },
        );
        // A run that has ended meanwhile is no error.
        if (!done.ok && done.refusal.code !== 'run-not-open') throw refused(done.refusal, at);
      }
      // A missing run is reported only after the others are cancelled.
      if (runIds !== undefined && found.length < new Set(runIds).size) throw noRun();
      return noContent();
    },
  }),
];
