/**
 * `POST /internal/truncate`: an empty server for the next test, where development asks for it. There only behind its
 * switch, and only for callers on the same machine that speak for themselves.
 *
 * D1 Everything goes the way in which clients delete it, one deletion after the other.
 */
import { Hono } from 'hono';
import { ownAssistants, someCrons, someItems, someThreads } from '../../projections/inventory.ts';
import type { Env, ServerContext } from '../context.ts';
import { noRoute } from '../replies.ts';
import { check } from '../schemas/common.ts';
import { truncate } from '../schemas/truncate.ts';

const EVERY = Number.MAX_SAFE_INTEGER;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
/** A proxy speaks for somebody else, and so does a browser: any page may send to this machine. */
const SPEAKS_FOR_OTHERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via', 'origin', 'sec-fetch-site'];

export function truncateRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { log, threads, assistants, crons, store, clock, ids } = context;

  async function deleteThreads(): Promise<void> {
    for (;;) {
      const found = someThreads(log.rows);
      if (found.length === 0) return;
      const done = await Promise.all(
        found.map((threadId) => threads.dispatch(threadId, [{ type: 'DeleteThread' }])),
      );
      // What refuses to go is met again on the next page, for ever.
      if (done.every(({ ok }) => !ok)) throw new Error(`${found.length} threads cannot be deleted`);
    }
  }

  /** Runs to come go with the runs that are there. */
  async function deleteCrons(): Promise<void> {
    for (;;) {
      const found = someCrons(log.rows);
      if (found.length === 0) return;
      const done = await Promise.all(found.map((cronId) => crons.dispatch(cronId, { type: 'DeleteCron' })));
      if (done.every(({ ok }) => !ok)) throw new Error(`${found.length} crons cannot be deleted`);
    }
  }

  async function deleteItems(): Promise<void> {
    for (;;) {
      const found = someItems(log.rows);
      if (found.length === 0) return;
      const written = await store.write(
        found.map(({ namespace, key }) => ({ kind: 'delete', namespace, key }) as const),
        {},
      );
      if (!written.ok || written.changed === 0) throw new Error(`${found.length} items cannot be deleted`);
    }
  }

  app.post('/internal/truncate', async (c) => {
    const from = c.env.incoming?.socket.remoteAddress ?? '';
    if (!LOOPBACK.test(from) || SPEAKS_FOR_OTHERS.some((name) => c.req.header(name) !== undefined))
      throw noRoute();
    const wanted = check(truncate, c.var.body ?? {});
    if (wanted.threads === true) {
      await deleteCrons();
      await deleteThreads();
      // Requests that come again are new.
      const payloads = [{ kind: 'forget-commands', before: clock.now() + 1, limit: EVERY } as const];
      await log.commit({ commandId: ids.uuid(), appends: [], payloads });
    }
    if (wanted.assistants === true)
      for (const assistantId of await ownAssistants(log.rows))
        await assistants.dispatch(assistantId, { type: 'DeleteAssistant' });
    if (wanted.store === true) await deleteItems();
    return c.json({ ok: true });
  });
  return app;
}
