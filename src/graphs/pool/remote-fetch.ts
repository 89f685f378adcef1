/**
 * What a client without an address finds inside a graph worker: requests travel to the server over the worker's
 * channel, and the reply's body comes piece by piece, as fast as it is read.
 */
import { openGate } from '../../kernel/gate.ts';
import type { ServerSide } from './sides.ts';

/** Agreed with the official client. */
const FETCH = Symbol.for('langgraph_api:fetch');
const URL_BASE = Symbol.for('langgraph_api:url');

/** Requests whose reply has not begun: what comes at once holds up the server until all of it has been begun with. */
const MOST_ASKED = 64;

type Remote = Pick<ServerSide, 'openReply' | 'readReply' | 'dropReply'>;

/** Publishes the client; the returned function tells it the server's address when that changes. */
export function publishRemoteFetch(server: Remote, base: string): (base: string) => void {
  let known = base;
  let last = 0;
  const asking = openGate(MOST_ASKED);

  const own: typeof fetch = async (input, init) => {
    const request = new Request(typeof input === 'string' ? new URL(input, known) : input, init);
    const { signal } = request;
    signal.throwIfAborted();
    const id = ++last;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        server.dropReply(id);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    // Nobody may be waiting when it is given up.
    left.catch(() => undefined);
    try {
      const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
      const reply = await Promise.race([
        asking.enter(async () => {
          signal.throwIfAborted();
          return server.openReply(id, {
            url: request.url,
            method: request.method,
            headers: [...request.headers],
            ...(body !== undefined && { body }),
          });
        }),
        left,
      ]);
      const { status, statusText, headers } = reply;
      const stream = reply.hasBody
        ? toStream(server, id, left, () => signal.removeEventListener('abort', leave))
        : null;
      if (stream === null) signal.removeEventListener('abort', leave);
      return new Response(stream, {
        ...{ status, statusText },
        headers: headers.map(([name, value]): [string, string] => [name, value]),
      });
    } catch (error) {
      signal.removeEventListener('abort', leave);
      throw toFetchError(error);
    }
  };

  const shared = globalThis as { [FETCH]?: typeof fetch; [URL_BASE]?: string };
  shared[FETCH] = own;
  shared[URL_BASE] = known;
  return (next) => {
    shared[URL_BASE] = known = next;
  };
}

function toStream(
  server: Remote,
  id: number,
  left: Promise<never>,
  done: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const piece = await Promise.race([server.readReply(id), left]);
          if (piece !== null) return controller.enqueue(piece);
          done();
          controller.close();
        } catch (error) {
          done();
          controller.error(toFetchError(error));
        }
      },
      cancel() {
        done();
        server.dropReply(id);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Clients tell a failed request by the class. */
const toFetchError = (error: unknown): unknown =>
  error instanceof Error && error.name === 'TypeError' ? new TypeError(error.message) : error;
