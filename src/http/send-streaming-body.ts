/**
 * A held body on its way into a socket, text by text: a stream in between, with its promises for every frame, costs a
 * fifth of the thread of a server that does little but stream.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { StreamingBody } from './streaming-body.ts';
import { noteSent } from './slow-readers.ts';

/** What a socket takes at once costs the time to copy it, and some hundred sockets may wait for the same frame. */
const LARGE = 65_536;

export interface SendOptions {
  /** Of the server: awaited before much is sent, so that others have their turn in between. */
  readonly inTurn: () => Promise<void>;
  /** Hears what ended the reply before its time, unless the client did. */
  readonly onFault: (error: unknown) => void;
}

export function sendStreamingBody(
  { status, headers }: Response,
  body: StreamingBody,
  outgoing: ServerResponse,
  { inTurn, onFault }: SendOptions,
): void {
  const { clock, idle, everyMs } = body;
  /** All was said that will be; the client did not leave. */
  let complete = false;
  let sentAt = clock.monotonic();
  let cancel: () => void = () => undefined;

  const write = (text: string | Uint8Array): boolean => {
    sentAt = clock.monotonic();
    if (outgoing.socket !== null) noteSent(outgoing.socket, typeof text === 'string' ? undefined : text);
    return outgoing.write(text);
  };
  /** One timer for the whole reply, set again when it comes: one for every frame would be most of the timers there are. */
  const beat = (): void => {
    const left = everyMs - (clock.monotonic() - sentAt);
    // Who takes nothing needs no sign of life, and would only be owed more.
    if (left <= 0 && !outgoing.writableNeedDrain && !body.isOver()) write(idle);
    cancel = clock.after(left > 0 ? left : everyMs, beat);
  };
  const pump = async (): Promise<void> => {
    for (;;) {
      const step = await body.next();
      if (step !== undefined && step.text.length > LARGE) await inTurn();
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
  // The connection's faults end in `close` as well; unheard they would end the process.
  outgoing.on('error', () => cancel());
  if (outgoing.destroyed) return body.leave();
  outgoing.writeHead(status, recordOf(headers));
  body.begin();
  if (body.isOver()) return;
  write(idle);
  cancel = clock.after(everyMs, beat);
  pump().catch((error: unknown) => {
    complete = true;
    onFault(error);
    outgoing.destroy();
  });
}

/** Settles when the socket took what it was given, or is gone. */
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
