/**
 * Writes a streaming body directly to a socket: a `ReadableStream` in between, with its promises per frame, takes 20 % of
 * the main thread of a server that mostly streams.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { partsOf } from './own-reply.ts';
import type { StreamingBody } from './streaming-body.ts';
import { noteSent } from './slow-readers.ts';

/** Larger texts wait for `inTurn`: each write copies the text, and some hundred sockets may wait for the same frame. */
const MAX_UNQUEUED_CHARS = 65_536;

export interface SendOptions {
  /** Awaited before a large write, so that other requests are served in between; shared by the server. */
  readonly inTurn: () => Promise<void>;
  /** Called with the error that broke off the reply; not called when the client disconnects. */
  readonly onFault: (error: unknown) => void;
}

export function sendStreamingBody(
  response: Response,
  body: StreamingBody,
  outgoing: ServerResponse,
  { inTurn, onFault }: SendOptions,
): void {
  const { clock, idle, everyMs } = body;
  /** True after the last text or an error: `close` then does not mean that the client has disconnected. */
  let complete = false;
  let sentAt = clock.monotonic();
  let cancel: () => void = () => undefined;

  const write = (text: string | Uint8Array): boolean => {
    sentAt = clock.monotonic();
    if (outgoing.socket !== null) noteSent(outgoing.socket, typeof text === 'string' ? undefined : text);
    return outgoing.write(text);
  };
  /** Writes keep-alive text. One timer per reply, re-armed when it fires, is cheaper than one per frame. */
  const keepAlive = (): void => {
    const left = everyMs - (clock.monotonic() - sentAt);
    // A client that is not reading gets no keep-alive text: it would only add to the buffer.
    if (left <= 0 && !outgoing.writableNeedDrain && !body.isOver()) write(idle);
    cancel = clock.after(left > 0 ? left : everyMs, keepAlive);
  };
  const pump = async (): Promise<void> => {
    for (;;) {
      const step = await body.next();
      if (step !== undefined && step.text.length > MAX_UNQUEUED_CHARS) await inTurn();
      if (step === undefined || outgoing.destroyed) return;
      if (step.last) {
        complete = true;
        cancel();
        outgoing.end(step.text);
        return;
      }
      if (step.text.length > 0 && !write(step.text)) await hasRoom(outgoing);
    }
  };

  outgoing.once('close', () => {
    cancel();
    if (!complete) body.leave();
  });
  // `close` follows every connection error, but an `error` event without a listener ends the process.
  outgoing.on('error', () => cancel());
  if (outgoing.destroyed) return body.leave();
  outgoing.writeHead(response.status, partsOf(response)?.headers ?? recordOf(response.headers));
  body.begin();
  if (body.isOver()) return;
  write(idle);
  cancel = clock.after(everyMs, keepAlive);
  pump().catch((error: unknown) => {
    complete = true;
    onFault(error);
    outgoing.destroy();
  });
}

/** Resolves when the socket's buffer has drained or the socket has closed. */
function hasRoom(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

function recordOf(headers: Headers): OutgoingHttpHeaders {
  const record: OutgoingHttpHeaders = Object.fromEntries(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) record['set-cookie'] = cookies;
  return record;
}
