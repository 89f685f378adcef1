/**
 * Bodies that come in steps, over as long as it takes, for two kinds of takers: a socket (send-streaming-body.ts), and a stream for
 * whoever looks into replies on their way.
 *
 * S3 The next step is asked for only when the taker has room: a slow reader holds one page and slows nobody.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../kernel/clock.ts';

export interface StreamingReply {
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Aborted when the reply is over, one way or the other; what feeds it ends then. */
  readonly over: AbortController;
  /** The client went away before the reply was complete. */
  readonly onLeave?: () => void;
  /** The server stops: the reply breaks off, so that the client comes back for the rest. */
  readonly stopping: AbortSignal;
  /** The reader's credentials end then (milliseconds since 1970), and the reply breaks off. */
  readonly expiresAt: number | undefined;
  /** Where the reply goes. It is destroyed to break off: an end that no client takes for a complete reply. */
  readonly outgoing: ServerResponse | undefined;
}

export interface Step {
  /** As UTF-8 when it is bytes already. Nothing is sent for an empty one. */
  readonly text: string | Uint8Array;
  readonly last: boolean;
}

export interface StreamingBody {
  readonly clock: Clock;
  /** Sent first, so that the client has its headers at once, and whenever nothing else was for `everyMs`. */
  readonly idle: string;
  readonly everyMs: number;
  /** Before the first step: from now on the end of the server and of the credentials end the reply. */
  begin(): void;
  /** Undefined when the reply has broken off; rejects when there is no way on. */
  next(): Promise<Step | undefined>;
  hasBegun(): boolean;
  isOver(): boolean;
  /** The client went away. */
  leave(): void;
}

export interface StreamingOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly idle: string;
  readonly everyMs: number;
  readonly produce: () => Promise<Step>;
}

const HELD = Symbol('the body that this reply is given');
type Addressed = ServerResponse & {
  [HELD]?: { response: Response; stream: ReadableStream; body: StreamingBody };
};

/** The body of a response in steps, if it is still the one that a route made for this reply, and whole. */
export function streamingBodyOf(response: Response, outgoing: ServerResponse): StreamingBody | undefined {
  const held = (outgoing as Addressed)[HELD];
  if (held === undefined || held.stream.locked || held.body.hasBegun()) return undefined;
  // Not asked for without need: it makes a whole response of what is a few words until then.
  if (response !== held.response && response.body !== held.stream) return undefined;
  return held.body;
}

export function streamingResponse(reply: StreamingReply, options: StreamingOptions): Response {
  const body = createBody(reply, options);
  const stream = toStream(body);
  const headers = { 'cache-control': 'no-store', ...options.headers, ...reply.headers };
  const response = new Response(stream, { headers });
  if (reply.outgoing !== undefined) (reply.outgoing as Addressed)[HELD] = { response, stream, body };
  return response;
}

function createBody(reply: StreamingReply, { idle, everyMs, produce }: StreamingOptions): StreamingBody {
  const { clock, over, stopping, onLeave, expiresAt, outgoing } = reply;
  const breakOff = (): void => {
    over.abort();
    outgoing?.destroy();
  };
  let begun = false;
  return {
    clock,
    idle,
    everyMs,
    begin() {
      begun = true;
      if (stopping.aborted) return breakOff();
      stopping.addEventListener('abort', breakOff, { once: true });
      // Not by the option `signal`: of all signals of one target Node keeps only the last from being collected,
      // and then every reply would stay listened for, with the page it holds, until the server stops.
      const leave = (): void => stopping.removeEventListener('abort', breakOff);
      over.signal.addEventListener('abort', leave, { once: true });
      if (expiresAt === undefined) return;
      const forget = clock.after(Math.max(0, expiresAt - clock.now()), breakOff);
      over.signal.addEventListener('abort', forget, { once: true });
    },
    async next() {
      try {
        const step = await produce();
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
        // One tick for all steps until something is sent: frames that this reader filters out are silence to it.
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
            // A copy: others are sent the same bytes, and whoever reads a stream may change or take what it gives him.
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
