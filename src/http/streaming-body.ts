/**
 * Reply bodies that are produced in steps, for two consumers: a socket (send-streaming-body.ts), and a `ReadableStream`
 * for middleware that reads or replaces replies.
 *
 * S3 The next step is requested only when the consumer has room: a slow reader holds one page and slows nobody.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { ownReply, partsOf } from './own-reply.ts';

export interface StreamingReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Aborted when the reply ends for any reason; its sources stop then. */
  readonly over: AbortController;
  /** Called when the client disconnects before the reply is complete. */
  readonly onLeave?: () => void;
  /** Aborts when the server stops: the reply breaks off, so that the client resumes it. */
  readonly stopping: AbortSignal;
  /** Expiry of the reader's credentials (ms since 1970), when the reply breaks off. */
  readonly expiresAt: number | undefined;
  /** The Node response. It is destroyed to break off, which clients do not mistake for a complete reply. */
  readonly outgoing: ServerResponse | undefined;
}

export interface Step {
  /** Text, or bytes in UTF-8. Nothing is sent when it is empty. */
  readonly text: string | Uint8Array;
  readonly last: boolean;
}

export interface StreamingBody {
  readonly clock: Clock;
  /** Keep-alive text, sent first so that headers leave at once, and after every `everyMs` of silence. */
  readonly idle: string;
  readonly everyMs: number;
  /** Call before the first step: starts to watch for the server's stop and the credentials' expiry. */
  begin(): void;
  /** The next step; undefined when the reply has broken off. Rejects when producing the step fails. */
  next(): Promise<Step | undefined>;
  hasBegun(): boolean;
  isOver(): boolean;
  /** Call when the client disconnects. */
  leave(): void;
}

export interface StreamingOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly idle: string;
  readonly everyMs: number;
  /** `stay`: what the reply waits for has happened, so it no longer breaks off when the server stops. */
  readonly produce: (stay: () => void) => Promise<Step>;
}

const STREAMING_BODY = Symbol('the body that this reply is given');
type Addressed = ServerResponse & {
  [STREAMING_BODY]?: { stream: ReadableStream; body: StreamingBody };
};

/** The streaming body of a response; undefined if it has none, or if middleware has replaced or read the body. */
export function streamingBodyOf(response: Response, outgoing: ServerResponse): StreamingBody | undefined {
  const entry = (outgoing as Addressed)[STREAMING_BODY];
  if (entry === undefined || entry.stream.locked || entry.body.hasBegun()) return undefined;
  // `response.body` is compared last: the getter makes the adapter build a full `Response`.
  if (partsOf(response)?.body !== entry.stream && response.body !== entry.stream) return undefined;
  return entry.body;
}

export function streamingResponse(reply: StreamingReply, options: StreamingOptions): Response {
  const body = createBody(reply, options);
  const stream = toStream(body);
  const headers = { 'cache-control': 'no-store', ...options.headers, ...reply.headers };
  if (reply.outgoing !== undefined) (reply.outgoing as Addressed)[STREAMING_BODY] = { stream, body };
  return ownReply(stream, 200, headers);
}

function createBody(reply: StreamingReply, { idle, everyMs, produce }: StreamingOptions): StreamingBody {
  const { clock, over, stopping, onLeave, expiresAt, outgoing } = reply;
  const breakOff = (): void => {
    over.abort();
    outgoing?.destroy();
  };
  // `removeEventListener` instead of the option `signal`, which Node may lose to garbage collection: the listener would
  // then keep every reply, with its page, in memory until the server stops.
  const stay = (): void => stopping.removeEventListener('abort', breakOff);
  let begun = false;
  return {
    clock,
    idle,
    everyMs,
    begin() {
      begun = true;
      if (stopping.aborted) return breakOff();
      stopping.addEventListener('abort', breakOff, { once: true });
      over.signal.addEventListener('abort', stay, { once: true });
      if (expiresAt === undefined) return;
      const forget = clock.after(Math.max(0, expiresAt - clock.now()), breakOff);
      over.signal.addEventListener('abort', forget, { once: true });
    },
    async next() {
      try {
        const step = await produce(stay);
        if (over.signal.aborted) return undefined;
        if (step.last) over.abort();
        return step;
      } catch (error) {
        over.abort();
        throw error;
      }
    },
    hasBegun: () => begun,
    isOver: () => over.signal.aborted,
    leave() {
      over.abort();
      onLeave?.();
    },
  };
}

function toStream(body: StreamingBody): ReadableStream {
  const { clock, everyMs, idle } = body;
  const encoder = new TextEncoder();
  let pending: Promise<Step | undefined> | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        if (!body.hasBegun()) {
          body.begin();
          return controller.enqueue(encoder.encode(idle));
        }
        let cancel: () => void = () => undefined;
        // One timer for all steps until text is sent: frames that are filtered out count as silence.
        const tick = new Promise<'tick'>((resolve) => {
          cancel = clock.after(everyMs, () => resolve('tick'));
        });
        try {
          for (let sent = false; !sent;) {
            pending ??= body.next();
            const step = await Promise.race([pending, tick]);
            if (step === undefined || (step === 'tick' && body.isOver())) return;
            const text = step === 'tick' ? idle : step.text;
            sent = text.length > 0;
            // Bytes are copied: other replies share them, and a stream's reader may modify or transfer its chunks.
            if (sent)
              controller.enqueue(typeof text === 'string' ? encoder.encode(text) : new Uint8Array(text));
            if (step === 'tick') continue;
            pending = undefined;
            if (step.last) return controller.close();
          }
        } finally {
          cancel();
        }
      },
      cancel: () => body.leave(),
    },
    { highWaterMark: 0 },
  );
}
