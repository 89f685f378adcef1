/**
 * Frames as server-sent events, and answers that wait.
 *
 * S3 The next page is read only when the socket took the last one and asks: a slow reader holds one page and slows
 * nobody.
 */
import type { Clock } from '../kernel/clock.ts';
import type { Json } from '../kernel/json.ts';

/** Clients arm a watchdog on the gap between heartbeats, so they come regularly once begun. */
const HEARTBEAT_MS = 5_000;
/** Before the answer: white space that keeps proxies from giving up. */
const KEEP_ALIVE_MS = 1_000;

export interface HeldReply {
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
  /** Cuts the connection: an end that no client takes for a complete reply. */
  readonly breakOff: () => void;
}

type Step = { readonly text: string; readonly last: boolean };

/** `idle` is sent whenever nothing else was for `everyMs`. */
function held(reply: HeldReply, everyMs: number, idle: string, produce: () => Promise<Step>): ReadableStream {
  const { clock, over, stopping, onLeave, expiresAt } = reply;
  const encoder = new TextEncoder();
  let pending: Promise<Step> | undefined;
  return new ReadableStream(
    {
      start(controller) {
        // A comment or white space at once: the client has its headers before the first frame.
        controller.enqueue(encoder.encode(idle));
        const breakOff = (): void => {
          over.abort();
          reply.breakOff();
        };
        if (stopping.aborted) breakOff();
        else {
          stopping.addEventListener('abort', breakOff, { once: true });
          // Not by the option `signal`: of all signals of one target Node keeps only the last from being collected,
          // and then every reply would stay listened for, with the page it holds, until the server stops.
          const leave = (): void => stopping.removeEventListener('abort', breakOff);
          over.signal.addEventListener('abort', leave, { once: true });
        }
        if (expiresAt === undefined || over.signal.aborted) return;
        const forget = clock.after(Math.max(0, expiresAt - clock.now()), breakOff);
        over.signal.addEventListener('abort', forget, { once: true });
      },
      async pull(controller) {
        let cancel: () => void = () => undefined;
        // One tick for all steps until something is sent: frames that this reader filters out are silence to it.
        const tick = new Promise<undefined>((resolve) => {
          cancel = clock.after(everyMs, () => resolve(undefined));
        });
        try {
          for (let sent = false; !sent;) {
            pending ??= produce();
            const step = await Promise.race([pending, tick]);
            if (over.signal.aborted) return;
            const text = step?.text ?? idle;
            sent = text !== '';
            if (sent) controller.enqueue(encoder.encode(text));
            if (step === undefined) continue;
            pending = undefined;
            if (!step.last) continue;
            over.abort();
            return controller.close();
          }
        } catch (error) {
          over.abort();
          throw error;
        } finally {
          cancel();
        }
      },
      cancel() {
        over.abort();
        onLeave?.();
      },
    },
    { highWaterMark: 0 },
  );
}

const clean = (text: string): string => text.replace(/[\r\n\u0000]/g, '');

/** A frame under the id that a reader comes back with. */
export interface SentFrame {
  readonly event: string;
  readonly data: string;
  readonly id: number | string;
}

const toText = (frame: SentFrame): string =>
  `event: ${clean(frame.event)}\ndata: ${frame.data}\nid: ${frame.id}\n\n`;

export function sseReply(
  pages: AsyncGenerator<SentFrame[]>,
  reply: HeldReply,
  wanted: (event: string) => boolean = () => true,
): Response {
  return textReply(textsOf(pages, wanted), reply);
}

async function* textsOf(
  pages: AsyncGenerator<SentFrame[]>,
  wanted: (event: string) => boolean,
): AsyncGenerator<string> {
  for await (const page of pages)
    yield page
      .filter((frame) => wanted(frame.event))
      .map(toText)
      .join('');
}

/** Server-sent events that are text already. */
export function textReply(pages: AsyncGenerator<string>, reply: HeldReply): Response {
  const body = held(reply, HEARTBEAT_MS, ': heartbeat\n', async () => {
    const page = await pages.next();
    return page.done === true ? { text: '', last: true } : { text: page.value, last: false };
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...reply.headers,
    },
  });
}

/** One frame, then the end: how a join-stream says that there is nothing to read. */
export async function* singleFrame(event: string, data: Json): AsyncGenerator<SentFrame[]> {
  yield [{ id: 0, event, data: JSON.stringify(data) }];
}

/** JSON that arrives later: headers now, white space meanwhile. Whatever goes wrong after can only be in the body. */
export function waitReply(result: () => Promise<Json>, reply: HeldReply): Response {
  const body = held(reply, KEEP_ALIVE_MS, '\n', async () => ({
    text: JSON.stringify(await result()),
    last: true,
  }));
  return new Response(body, {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...reply.headers },
  });
}
