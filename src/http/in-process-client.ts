/**
 * Publishes the server's `fetch` in this process, so that SDK clients without a URL reach the server that started last.
 * Their requests pass the same middleware as requests from outside, authentication included.
 */
import type { ServerResponse } from 'node:http';
import { SERVER_FETCH, SERVER_URL } from '../kernel/server-address.ts';
import type { EdgeFetch } from './edge.ts';

export interface InProcessClient {
  /** Sends a request to this server, even if another one is published. */
  readonly fetch: typeof fetch;
  /** Starts to answer requests; earlier requests wait for this call. `base` is the base URL of the API. */
  open(fetch: EdgeFetch, base: string): void;
  /** Rejects waiting requests and unpublishes this server, unless another one has replaced it. */
  close(): void;
}

type Published = { [SERVER_FETCH]?: typeof fetch; [SERVER_URL]?: string };

/** `base` is the base URL until `open` replaces it: recovered runs start before the server listens. */
export function publishInProcess(base: string): InProcessClient {
  const shared = globalThis as Published;
  let known = base;
  let open: (fetch: EdgeFetch) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ready = new Promise<EdgeFetch>((resolve, reject) => ([open, fail] = [resolve, reject]));
  ready.catch(() => undefined);

  const publishedFetch: typeof fetch = async (input, init) => {
    const request = new Request(typeof input === 'string' ? new URL(input, known) : input, init);
    return through(await ready, request);
  };
  shared[SERVER_FETCH] = publishedFetch;
  shared[SERVER_URL] = known;

  return {
    fetch: publishedFetch,
    open(fetch, base) {
      known = base;
      if (shared[SERVER_FETCH] === publishedFetch) shared[SERVER_URL] = base;
      open(fetch);
    },
    close() {
      fail(new TypeError('the server has stopped'));
      if (shared[SERVER_FETCH] !== publishedFetch) return;
      delete shared[SERVER_FETCH];
      delete shared[SERVER_URL];
    },
  };
}

/** Calls `fetch`. A reply that breaks off (server stop, caller's abort) rejects the reader of its body. */
async function through(fetch: EdgeFetch, request: Request): Promise<Response> {
  const broken = new AbortController();
  const outgoing = {
    destroy: () => broken.abort(new TypeError('the reply broke off')),
  } as unknown as ServerResponse;
  const signal = AbortSignal.any([broken.signal, request.signal]);
  signal.throwIfAborted();
  let rejectLeft: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    rejectLeft = () => reject(signal.reason as Error);
    signal.addEventListener('abort', rejectLeft, { once: true });
  });
  const pendingReply = fetch(request, { outgoing } as Parameters<EdgeFetch>[1]);
  try {
    const reply = await Promise.race([pendingReply, aborted]);
    if (reply.body === null) return reply;
    const { status, statusText, headers } = reply;
    return new Response(reply.body.pipeThrough(new TransformStream(), { signal }), {
      ...{ status, statusText, headers },
    });
  } catch (error) {
    // Cancels the late reply, whose body has no reader.
    pendingReply.then((reply) => reply.body?.cancel()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', rejectLeft);
  }
}
