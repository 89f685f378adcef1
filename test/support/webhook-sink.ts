import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { scaled } from './scaled.ts';

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact bytes, for signatures. */
  readonly body: Buffer;
  /** 0, 1, 2, …: the order in which the requests were complete. */
  readonly receivedAt: number;
}

/**
 * What to do with a request: answer a status; never answer; reset the connection; redirect; answer once
 * `sink.release()` is called; or anything else, by hand.
 */
export type Answer =
  | number
  | 'hang'
  | 'reset'
  | { readonly redirect: string; readonly status?: number }
  | { readonly held: number }
  | ((request: ReceivedRequest, response: ServerResponse) => void);

export interface WebhookSink {
  url(path?: string): string;
  readonly received: readonly ReceivedRequest[];
  /** Resolves with the first `n` requests as soon as so many have arrived since the start; fails after `timeoutMs`. */
  next(n: number, timeoutMs?: number): Promise<readonly ReceivedRequest[]>;
  /** Answers for the coming requests, one each, in order. */
  answer(...answers: Answer[]): void;
  /** The answer when none is queued; 200 unless told otherwise. */
  otherwise(answer: Answer): void;
  /** Answers every request held so far. */
  release(): void;
}

/** Lends a real HTTP (or HTTPS) receiver on loopback to `use`; closes it and all its connections at the end. */
export async function withWebhookSink<T>(
  use: (sink: WebhookSink) => Promise<T>,
  tls?: { readonly key: string; readonly cert: string },
): Promise<T> {
  const received: ReceivedRequest[] = [];
  const queue: Answer[] = [];
  const arrivals = new Set<() => void>();
  let fallback: Answer = 200;
  let held: (() => void)[] = [];

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    buffer(request).then(
      (body) => arrive(request, body, response),
      () => response.destroy(), // the sender went away before its request was complete
    );
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);

  /** Waiting tests are told last: `release()` right after `next()` must find the request held. */
  function arrive(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const entry = { method, url, headers, body, receivedAt: received.length };
    received.push(entry);
    reply(queue.shift() ?? fallback, entry, response);
    for (const arrived of arrivals) arrived();
  }

  function reply(answer: Answer, entry: ReceivedRequest, response: ServerResponse): void {
    if (answer === 'hang') return;
    if (typeof answer === 'function') answer(entry, response);
    else if (answer === 'reset') response.socket?.resetAndDestroy();
    else if (typeof answer === 'number') response.writeHead(answer).end();
    else if ('held' in answer) held.push(() => response.writeHead(answer.held).end());
    else response.writeHead(answer.status ?? 302, { location: answer.redirect }).end();
  }

  function next(n: number, timeoutMs = scaled(120_000)): Promise<readonly ReceivedRequest[]> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        arrivals.delete(check);
      };
      const check = () => {
        if (received.length < n) return;
        stop();
        resolve(received.slice(0, n));
      };
      const timer = setTimeout(() => {
        stop();
        const seen = received.map((entry) => `${entry.method} ${entry.url}`).join(', ') || 'none';
        reject(new Error(`expected ${n} webhooks within ${timeoutMs} ms, got ${received.length}: ${seen}`));
      }, timeoutMs);
      arrivals.add(check);
      check();
    });
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await use({
      url: (path = '/hook') => `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}${path}`,
      received,
      next,
      answer: (...answers) => void queue.push(...answers),
      otherwise: (answer) => void (fallback = answer),
      release() {
        for (const letGo of held) letGo();
        held = [];
      },
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
