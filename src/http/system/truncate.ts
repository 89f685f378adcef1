/**
 * Deletes all data, for tests during development. The endpoint exists only if enabled, is not in the OpenAPI document,
 * and accepts only direct requests from the same machine.
 *
 * D1 Deletes through the commands that clients use.
 */
import { z } from 'zod';
import { check } from '../check.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json } from '../openapi/descriptions.ts';
import { jsonReply, noRoute } from '../replies.ts';
import { truncate } from './schemas.ts';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
/** Headers of proxies and browsers: a forwarded request, or one of any web page, may come from elsewhere. */
const INDIRECT_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via', 'origin', 'sec-fetch-site'];

export const truncateEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/internal/truncate',
    tag: 'system',
    summary: 'Delete all data',
    describedBody: truncate,
    replies: { 200: json(z.object({ ok: z.literal(true) }), 'Deleted') },
    async handle({ context, c }) {
      const { log, assistants, clock, ids } = context;
      const from = c.env.incoming?.socket.remoteAddress ?? '';
      if (!LOOPBACK.test(from) || INDIRECT_HEADERS.some((name) => c.req.header(name) !== undefined))
        throw noRoute();
      const wanted = check(truncate, c.var.body ?? {});
      if (wanted.threads === true) {
        await deleteCrons(context);
        await deleteThreads(context);
        // Forgets idempotency keys, so that repeated requests are accepted again.
        const payloads = [{ kind: 'forget-commands', before: clock.now() + 1, limit: NO_LIMIT } as const];
        await log.commit({ commandId: ids.uuid(), appends: [], payloads });
      }
      if (wanted.assistants === true)
        for (const assistantId of await log.views.inventory.assistants())
          await assistants.dispatch(assistantId, { type: 'DeleteAssistant' });
      if (wanted.store === true) await deleteItems(context);
      return jsonReply({ ok: true });
    },
  }),
];

async function deleteThreads({ log, threads }: ServerContext): Promise<void> {
  for (;;) {
    const found = await log.views.inventory.threads();
    if (found.length === 0) return;
    const done = await Promise.all(
      found.map((threadId) => threads.dispatch(threadId, [{ type: 'DeleteThread' }])),
    );
    // This check prevents an endless loop over threads that cannot be deleted.
    if (done.every(({ ok }) => !ok)) throw new Error(`${found.length} threads cannot be deleted`);
  }
}

/** Deletes crons before threads, so that none starts a run in between. */
async function deleteCrons({ log, crons }: ServerContext): Promise<void> {
  for (;;) {
    const found = await log.views.inventory.crons();
    if (found.length === 0) return;
    const done = await Promise.all(found.map((cronId) => crons.dispatch(cronId, { type: 'DeleteCron' })));
    if (done.every(({ ok }) => !ok)) throw new Error(`${found.length} crons cannot be deleted`);
  }
}

async function deleteItems({ log, store }: ServerContext): Promise<void> {
  for (;;) {
    const found = await log.views.inventory.items();
    if (found.length === 0) return;
    const written = await store.write(
      found.map(({ namespace, key }) => ({ kind: 'delete', namespace, key }) as const),
      {},
    );
    if (!written.ok || written.changed === 0) throw new Error(`${found.length} items cannot be deleted`);
  }
}
