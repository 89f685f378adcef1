/** Frames as server-sent events, and answers that wait. */
import type { Json } from '../kernel/json.ts';
import { encodeJson, type Sendable } from '../kernel/json-text.ts';
import { streamingResponse, type StreamingReply, type Step } from './streaming-body.ts';

/** A block of its own: parsers that split the stream at empty lines find no event in the same block. */
const HEARTBEAT = ': heartbeat\n\n';
/** Clients arm a watchdog on the gap between heartbeats, so they come regularly once begun. */
const HEARTBEAT_MS = 5_000;
/** Before the answer: white space that keeps proxies from giving up. */
const KEEP_ALIVE_MS = 1_000;

const clean = (text: string): string => text.replace(/[\r\n\u0000]/g, '');

/** A frame under the id that a reader comes back with. */
export interface SentFrame {
  readonly event: string;
  readonly data: string;
  readonly id: number | string;
}

const frameText = (frame: SentFrame): string =>
  `event: ${clean(frame.event)}\ndata: ${frame.data}\nid: ${frame.id}\n\n`;

const pageText = (page: readonly SentFrame[]): string => page.map(frameText).join('');

/** Longer pages are kept as bytes while anybody has the page, in UTF-16 units of text. */
const LARGE = 65_536;
/** S3 The bytes of one large page for all sockets that it waits in: of a text each of them makes its own. */
const encoded = new WeakMap<readonly SentFrame[], Uint8Array>();

function toSend(page: readonly SentFrame[]): string | Uint8Array {
  const known = encoded.get(page);
  if (known !== undefined) return known;
  const text = pageText(page);
  if (text.length <= LARGE) return text;
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

/** Server-sent events that are text already, or UTF-8. */
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

/** An event without an id: readers drop what comes under one that they have seen. */
export const eventText = (event: string, data: Json): string =>
  `event: ${clean(event)}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * One frame, then the end: how a join-stream says that there is nothing to read.
 */
export async function* singleFrame(event: string, data: Json): AsyncGenerator<string> {
  yield eventText(event, data);
}

/** JSON that arrives later: headers now, white space meanwhile. Whatever goes wrong after can only be in the body. */
export function waitReply(result: () => Promise<Sendable>, reply: StreamingReply): Response {
  return streamingResponse(reply, {
    headers: { 'content-type': 'application/json' },
    idle: '\n',
    everyMs: KEEP_ALIVE_MS,
    produce: async () => ({ text: encodeJson(await result()), last: true }),
  });
}
