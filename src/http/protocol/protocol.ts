/** Routes of the stream protocol: commands about a thread and its protocol events. */
import { Hono, type Context } from 'hono';
import { breathe } from '../../kernel/breathe.ts';
import { isUuid } from '../../kernel/ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { getThread } from '../../projections/thread-queries.ts';
import { MALFORMED, NO_THREAD, parseCommand, toError } from '../../protocol/command.ts';
import { toEventText, type ThreadEvent } from '../../protocol/event.ts';
import { matches, problemOfChannels } from '../../protocol/filter.ts';
import { parseSeq, toEventId } from '../../protocol/stream-cursor.ts';
import type { ThreadReader } from '../../streams/thread-events.ts';
import { authorise } from '../access.ts';
import { perform } from './perform.ts';
import type { Env, ServerContext } from '../context.ts';
import { toIdempotencyKey } from '../runs/idempotency.ts';
import { HttpProblem, needsUpgrade, switched } from '../replies.ts';
import { resumeCursor } from './stream-cursor.ts';
import { subscription, type SubscriptionParams } from './schemas.ts';
import { check, pathUuid } from '../check.ts';
import { eventBlock, textReply } from '../sse.ts';

/** S3 Text that is buffered for one reader: a page's protocol events can be many times as large as its frames. */
const MAX_TEXT_CHARS = 262_144;

export function protocolRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const threadIdOf = (c: Context<Env>): string => pathUuid(c.req.param('thread_id'), 'thread_id');

  app.post('/threads/:thread_id/commands', async (c) => {
    const { actor, body = null } = c.var;
    const command = parseCommand(body);
    if (command === undefined)
      return c.json(
        toError(isObject(body) ? (body['id'] ?? null) : null, 'invalid_argument', MALFORMED),
        400,
      );
    const given = c.req.param('thread_id');
    if (!isUuid(given)) return c.json(toError(command.id, 'unknown_error', NO_THREAD));
    const threadId = given.toLowerCase();
    const idempotencyKey = toIdempotencyKey(c.req.header('idempotency-key'), actor, [
      threadId,
      command.method,
      command.params,
    ]);
    return c.json(await perform({ context, actor, threadId, idempotencyKey }, command));
  });

  /** A3 The stream of a missing thread, and of one hidden from the caller, sends no events. */
  app.post('/threads/:thread_id/stream/events', async (c) => {
    const threadId = threadIdOf(c);
    const body = (c.var.body ?? {}) as Json;
    const problem = problemOfChannels(isObject(body) ? body['channels'] : undefined);
    if (problem !== undefined) throw new HttpProblem(400, problem);
    const wanted = check(subscription, body);
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    const given = resumeCursor(wanted, c.req.header('last-event-id'));
    const reader = context.threadEvents.read(threadId, {
      after: await context.threadEvents.resume(threadId, given),
      visible: async () => (await getThread(context.log.rows, threadId, filter)) !== undefined,
    });
    const over = new AbortController();
    const textOf = (event: ThreadEvent) => context.threadEvents.textOf(threadId, 'sse', event, toSse);
    return textReply(pages(reader, wanted, textOf, over.signal), {
      clock: context.clock,
      over,
      stopping: context.stopping,
      expiresAt: c.var.actor.expiresAt,
      outgoing: c.env.outgoing,
      headers: {},
    });
  });

  /** Upgrade requests reach this route too, through the middleware of every other request. */
  app.get('/threads/:thread_id/stream/events', async (c) => {
    const { upgrade } = c.env;
    upgrade?.admit();
    const threadId = threadIdOf(c);
    if (upgrade === undefined) throw needsUpgrade();
    const { filter } = await authorise(context, c.var.actor, 'threads:read', { thread_id: threadId });
    upgrade.grant({ threadId, actor: c.var.actor, filter });
    return switched();
  });

  return app;
}

async function* pages(
  reader: ThreadReader,
  wanted: SubscriptionParams,
  textOf: (event: ThreadEvent) => string | Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<string | Uint8Array> {
  // The generator is not resumed after a disconnect between two pages, so `finally` may never run.
  signal.addEventListener('abort', reader.close, { once: true });
  try {
    while (!signal.aborted) {
      const events = await reader.poll();
      if (events === undefined) await reader.wait(signal);
      else {
        let text = '';
        for (const event of events) {
          if (!matches(wanted, event)) continue;
          const next = textOf(event);
          if (typeof next === 'string') {
            text += next;
            if (text.length < MAX_TEXT_CHARS) continue;
          }
          if (text !== '') yield text;
          text = '';
          if (typeof next !== 'string') yield next;
        }
        if (text === '') await breathe();
        else yield text;
      }
    }
  } finally {
    reader.close();
  }
}

/** Uses the thread cursor as event id: it is shorter than the event's own id and is resolved without reading the run. */
const toSse = (event: ThreadEvent): string =>
  eventBlock(event.method, toEventText(event), toEventId(parseSeq(event.seq)!));
