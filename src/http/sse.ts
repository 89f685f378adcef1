/** Replies that take time: server-sent events, and JSON that is sent when a run ends. */
import type { Context } from 'hono';
import type { Json } from '../kernel/json.ts';
import { encodeJson, type Sendable } from '../kernel/json-text.ts';
import { createPatience } from '../store/port/patience.ts';
import type { Env } from './context.ts';
import { streamingResponse, type StreamingReply, type Step } from './streaming-body.ts';

/** Ends with an empty line, so that parsers which split at empty lines do not join it with the next event. */
const HEARTBEAT = ': heartbeat\r\n\r\n';
/** Interval of heartbeats in a silent stream: clients treat a longer gap as a lost connection. */
const HEARTBEAT_MS = 5_000;
/** Interval of white space before the JSON, which keeps proxies from timing out. */
const KEEP_ALIVE_MS = 1_000;

const clean = (text: string): string => text.replace(/[\r\n\u0000]/g, '');

/** Id of the last event that the client has; an empty header counts as absent. */
export const lastEventIdOf = (c: Context<Env>): string | undefined =>
  c.req.header('last-event-id') || undefined;

/** A frame with the id that a client resumes after. */
export interface SentFrame {
  readonly event: string;
  readonly data: string;
  readonly id: number | string;
}

/** `event` and `data` are one line each. */
const eventBlock = (event: string, data: string, id: number | string): string =>
  `event: ${event}\r\ndata: ${data}\r\nid: ${id}\r\n\r\n`;

const frameText = (frame: SentFrame): string => eventBlock(clean(frame.event), frame.data, frame.id);

const pageText = (page: readonly SentFrame[]): string => page.map(frameText).join('');

/** Longer pages are encoded once and shared; UTF-16 units. */
const MAX_TEXT_CHARS = 65_536;
/** S3 Encoded large pages, shared by all sockets that send them: a string would be copied by each socket. */
const encoded = new WeakMap<readonly SentFrame[], Uint8Array>();

function toSend(page: readonly SentFrame[]): string | Uint8Array {
  const known = encoded.get(page);
  if (known !== undefined) return known;
  const text = pageText(page);
  if (text.length <= MAX_TEXT_CHARS) return text;
  const bytes = Buffer.from(text);
  encoded.set(page, bytes);
  return bytes;
}

export function sseReply(
  pages: AsyncGenerator<SentFrame[]>,
  reply: StreamingReply,
  last?: () => Promise<string>,
): Response {
  return eventReply(pages, reply, toSend, last);
}

/** Server-sent events that are already rendered, as text or UTF-8 bytes. */
export const textReply = (pages: AsyncGenerator<Step['text']>, reply: StreamingReply): Response =>
  eventReply(pages, reply, (text) => text);

function eventReply<Page>(
  pages: AsyncGenerator<Page>,
  reply: StreamingReply,
  toText: (page: Page) => Step['text'],
  last: () => Promise<string> = async () => '',
): Response {
  return streamingResponse(reply, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    idle: HEARTBEAT,
    everyMs: HEARTBEAT_MS,
    async produce() {
      const page = await pages.next();
      return page.done === true
        ? { text: await last(), last: true }
        : { text: toText(page.value), last: false };
    },
  });
}

/** An event without an id: clients drop events with an id that they have seen. */
export const eventText = (event: string, data: Json): string =>
  `event: ${clean(event)}\r\ndata: ${JSON.stringify(data)}\r\n\r\n`;

/** A stream of one event, for a join-stream that has nothing to read. */
export async function* singleFrame(event: string, data: Json): AsyncGenerator<string> {
  yield eventText(event, data);
}

/** Sends headers at once, white space until `ended` resolves, then `result` as JSON. The status is 200 whatever follows. */
export function waitReply<T>(
  ended: () => Promise<T>,
  result: (end: T) => Promise<Sendable>,
  reply: StreamingReply,
): Response {
  return streamingResponse(reply, {
    headers: { 'content-type': 'application/json' },
    idle: '\n',
    everyMs: KEEP_ALIVE_MS,
    async produce(stay) {
      const end = await ended();
      stay();
      const patiently = createPatience(reply.clock, () => reply.over.signal.aborted);
      return { text: encodeJson(await patiently(() => result(end))), last: true };
    },
  });
}
