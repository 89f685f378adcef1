/**
 * What a client without an address finds in this process: the last server that was started. Its requests pass
 * everything that requests from outside pass, credentials included.
 */
import type { ServerResponse } from 'node:http';
import type { EdgeFetch } from './edge.ts';

export interface InProcessClient {
  /** Asks this server, whichever is published. */
  readonly fetch: typeof fetch;
  /** From now on requests are answered; earlier ones wait for it. `base` is where the interface begins. */
  open(fetch: EdgeFetch, base: string): void;
  /** Takes back what was published, unless another server has taken its place. */
  close(): void;
}

/** Agreed with the official client. */
const FETCH = Symbol.for('langgraph_api:fetch');
const URL_BASE = Symbol.for('langgraph_api:url');

type Published = { [FETCH]?: typeof fetch; [URL_BASE]?: string };

/** `base` holds until `open` knows better: runs that are recovered begin before the server listens. */
export function publishInProcess(base: string): InProcessClient {
  const shared = globalThis as Published;
  let known = base;
  let open: (fetch: EdgeFetch) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ready = new Promise<EdgeFetch>((resolve, reject) => ([open, fail] = [resolve, reject]));
  ready.catch(() => undefined);

  const own: typeof fetch = async (input, init) => {
    const request = new Request(typeof input === 'string' ? new URL(input, known) : input, init);
    return through(await ready, request);
  };
  shared[FETCH] = own;
  shared[URL_BASE] = known;

  return {
    fetch: own,
    open(fetch, base) {
      known = base;
      if (shared[FETCH] === own) shared[URL_BASE] = base;
      open(fetch);
    },
    close() {
      fail(new TypeError('the server has stopped'));
      if (shared[FETCH] !== own) return;
      delete shared[FETCH];
      delete shared[URL_BASE];
    },
  };
}

/** A reply that breaks off, because the server stops or its caller gives up, is an error to whoever reads it. */
async function through(fetch: EdgeFetch, request: Request): Promise<Response> {
  const broken = new AbortController();
  const outgoing = {
    destroy: () => broken.abort(new TypeError('the reply broke off')),
  } as unknown as ServerResponse;
  const signal = AbortSignal.any([broken.signal, request.signal]);
  signal.throwIfAborted();
  let leave: () => void = () => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
  });
  const answering = fetch(request, { outgoing } as Parameters<EdgeFetch>[1]);
  try {
    const reply = await Promise.race([answering, left]);
    if (reply.body === null) return reply;
    const { status, statusText, headers } = reply;
    return new Response(reply.body.pipeThrough(new TransformStream(), { signal }), {
      ...{ status, statusText, headers },
    });
  } catch (error) {
    // Nobody will read what comes.
    answering.then((reply) => reply.body?.cancel()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
