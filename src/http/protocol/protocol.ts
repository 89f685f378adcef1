/** Endpoints of the stream protocol: commands about a thread and its protocol events. */
import { z } from 'zod';
import { breathe } from '../../kernel/breathe.ts';
import { isUuid } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import { MALFORMED, NO_THREAD, parseCommand, toError } from '../../protocol/command.ts';
import { toEventText, type ThreadEvent } from '../../protocol/event.ts';
import { problemOfChannels, readsByGraph, select, type Subscription } from '../../protocol/filter.ts';
import { parseSeq, toEventId } from '../../protocol/stream-cursor.ts';
import type { ThreadReader } from '../../streams/thread-events.ts';
import { authorise } from '../access.ts';
import { check, pathUuid } from '../check.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { events, json, nothing, IDEMPOTENCY_HEADER, problems } from '../openapi/descriptions.ts';
import { HttpProblem, jsonReply, needsUpgrade, switched } from '../replies.ts';
import { toIdempotencyKey } from '../runs/idempotency.ts';
import { lastEventIdOf, textReply } from '../sse.ts';
import { streamingReply } from '../streaming-reply.ts';
import { perform } from './perform.ts';
import { subscription } from './schemas.ts';
import { resumeCursor } from './stream-cursor.ts';

/** S3 Text that is buffered for one reader: a page's protocol events can be many times as large as its frames. */
const MAX_TEXT_CHARS = 262_144;

const command = z.object({
  id: z.int().min(0),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

const meta = z.object({ thread_id: z.string(), applied_through_seq: z.int() });
const reply = z.union([
  z.object({ type: z.literal('success'), id: z.int(), result: z.record(z.string(), z.unknown()), meta }),
  z.object({ type: z.literal('error'), id: z.int().nullable(), error: z.string(), message: z.string() }),
]);

export const protocolEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/commands',
    tag: 'protocol',
    summary: 'Perform a command about a thread',
    description:
      '`run.start`, `input.respond`, `input.inject`, `state.get`, `state.listCheckpoints`, `state.fork`, ' +
      '`agent.getTree`. The reply to a command that fails is an error with status 200.',
    headers: IDEMPOTENCY_HEADER,
    describedBody: command,
    rawParams: ['thread_id'],
    replies: { 200: json(reply, 'The result, or an error'), 400: json(reply, 'The body is not a command') },
    async handle({ context, actor, params: { thread_id: given }, c }) {
      const { body = null } = c.var;
      const parsed = parseCommand(body);
      if (parsed === undefined)
        return jsonReply(
          toError(isObject(body) ? (body['id'] ?? null) : null, 'invalid_argument', MALFORMED),
          400,
        );
      if (!isUuid(given)) return jsonReply(toError(parsed.id, 'unknown_error', NO_THREAD));
      const threadId = given.toLowerCase();
      const idempotencyKey = toIdempotencyKey(c.req.header('idempotency-key'), actor, [
        threadId,
        parsed.method,
        parsed.params,
      ]);
      return jsonReply(await perform({ context, actor, threadId, idempotencyKey }, parsed));
    },
  }),
  /** A3 The stream of a missing thread, and of one hidden from the caller, sends no events. */
  endpoint({
    method: 'post',
    path: '/threads/{thread_id}/stream/events',
    changes: false,
    tag: 'protocol',
    summary: 'Stream the protocol events of a thread',
    description:
      'Events of the past first, then new ones, until the client disconnects. The thread may be created later.',
    headers: { 'Last-Event-ID': 'Id of the last event that arrived: the stream resumes after it.' },
    describedBody: subscription,
    replies: { 200: events('The events of the channels in the body'), ...problems(400) },
    async handle({ context, actor, params: { thread_id: threadId }, c }) {
      const body = c.var.body ?? {};
      const problem = problemOfChannels(isObject(body) ? body['channels'] : undefined);
      if (problem !== undefined) throw new HttpProblem(400, problem);
      const wanted = { ...check(subscription, body), byGraph: readsByGraph(c.req.header('user-agent')) };
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      const given = resumeCursor(wanted, lastEventIdOf(c));
      const reader = context.threadEvents.read(threadId, {
        after: await context.threadEvents.resume(threadId, given),
        visible: async () => (await context.log.views.threads.get(threadId, filter)) !== undefined,
      });
      const streamed = streamingReply({ context, actor, c });
      const textOf = (event: ThreadEvent) => context.threadEvents.textOf(threadId, 'sse', event, toSse);
      return textReply(pages(reader, wanted, textOf, streamed.over.signal), streamed);
    },
  }),
  /** Upgrade requests reach this endpoint too, through the middleware of every other request. */
  endpoint({
    method: 'get',
    path: '/threads/{thread_id}/stream/events',
    changes: true,
    tag: 'protocol',
    summary: 'Open a WebSocket for commands and protocol events of a thread',
    rawParams: ['thread_id'],
    replies: {
      101: nothing('The connection is a WebSocket'),
      426: nothing('The request is not a WebSocket upgrade'),
    },
    async handle({ context, actor, params, c }) {
      const { upgrade } = c.env;
      // Admitted before the id is checked: the socket then closes with a code that browsers can read.
      upgrade?.admit();
      const threadId = pathUuid(params.thread_id, 'thread_id');
      if (upgrade === undefined) throw needsUpgrade();
      const { filter } = await authorise(context, actor, 'threads:read', { thread_id: threadId });
      upgrade.grant({ threadId, actor, filter, byGraph: readsByGraph(c.req.header('user-agent')) });
      return switched();
    },
  }),
];

async function* pages(
  reader: ThreadReader,
  wanted: Subscription,
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
          const selected = select(wanted, event);
          if (selected === undefined) continue;
          const next = textOf(selected);
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

/**
 * Uses the thread cursor as event id: it is shorter than the event's own id and is resolved without reading the run.
 * Lines end with LF, as on the JavaScript server of the protocol, because wrappers of `fetch` split blocks at `\n\n`.
 */
const toSse = (event: ThreadEvent): string =>
  `event: ${event.method}\ndata: ${toEventText(event)}\nid: ${toEventId(parseSeq(event.seq)!)}\n\n`;
