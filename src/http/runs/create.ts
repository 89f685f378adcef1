/** Routes that create a run, on a thread or stateless, and return it, stream it or wait for its end. */
import { Hono, type Context } from 'hono';
import { cancelAbandoned } from './abandon.ts';
import type { Env, ServerContext } from '../context.ts';
import { toIdempotencyKey } from './idempotency.ts';
import { createRun, shownRun, type Created } from './creation.ts';
import { pathUuid } from '../check.ts';
import type { StreamingReply } from '../streaming-body.ts';
import { readingOfNew } from './reading.ts';
import { runReply } from './reply.ts';
import { waitReply } from '../sse.ts';
import { toRun } from '../serializers.ts';

export function runRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { streams } = context;

  /** `startsAtOnce` is false for replies that show the run, so that its status in them is `pending`. */
  const create = (c: Context<Env>, threadId: string | undefined, startsAtOnce: boolean): Promise<Created> =>
    createRun(context, c.var.actor, c.var.body, threadId, {
      startsAtOnce,
      // The key does not depend on the kind of reply: a client that waited may retry with a stream.
      idempotencyKey: toIdempotencyKey(c.req.header('idempotency-key'), c.var.actor, [
        threadId ?? null,
        c.var.body ?? {},
      ]),
    });

  /** `named` becomes `Content-Location`, the run's path; `location` is where a client resumes a broken reply. */
  function holdReply(
    c: Context<Env>,
    { run, request }: Created,
    named: string,
    location: string,
  ): StreamingReply {
    return {
      clock: context.clock,
      over: new AbortController(),
      ...(request.on_disconnect === 'cancel' && { onLeave: () => cancelAbandoned(context, run) }),
      stopping: context.stopping,
      expiresAt: c.var.actor.expiresAt,
      outgoing: c.env.outgoing,
      headers: { 'content-location': named, location },
    };
  }

  /** Creates the run and streams it. An invalid query throws before the run is created. */
  async function stream(
    c: Context<Env>,
    threadId: string | undefined,
    baseOf: (created: Created) => string,
  ): Promise<Response> {
    const reading = readingOfNew(c.req.url);
    const created = await create(c, threadId, true);
    const base = baseOf(created);
    return runReply(context, created.run, reading, holdReply(c, created, base, `${base}/stream`));
  }

  function wait(c: Context<Env>, created: Created, named: string, base = named): Response {
    const reply = holdReply(c, created, named, `${base}/join`);
    const { signal } = reply.over;
    return waitReply(async () => streams.result(await streams.ended(created.run.runId, signal)), reply);
  }

  const threadIdOf = (c: Context<Env>): string => pathUuid(c.req.param('thread_id'), 'thread_id');
  const onThread = ({ run }: Created): string => `/threads/${run.threadId}/runs/${run.runId}`;
  const stateless = ({ run }: Created): string => `/runs/${run.runId}`;

  app.post('/threads/:thread_id/runs', async (c) => {
    const created = await create(c, threadIdOf(c), false);
    return c.json(toRun(await shownRun(context, created)), 200, { 'content-location': onThread(created) });
  });
  app.post('/threads/:thread_id/runs/stream', (c) => stream(c, threadIdOf(c), onThread));
  app.post('/threads/:thread_id/runs/wait', async (c) => {
    const created = await create(c, threadIdOf(c), true);
    return wait(c, created, onThread(created));
  });
  app.post('/runs', async (c) => {
    const created = await create(c, undefined, false);
    return c.json(toRun(await shownRun(context, created)), 200, { 'content-location': stateless(created) });
  });
  app.post('/runs/stream', (c) => stream(c, undefined, stateless));
  app.post('/runs/wait', async (c) => {
    const created = await create(c, undefined, true);
    // The official server also names the thread in `Content-Location` and not in `Location`.
    return wait(c, created, onThread(created), stateless(created));
  });
  return app;
}
