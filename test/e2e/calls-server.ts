/**
 * A model that counts what it is asked. Answers follow from the name of the call in the request; equal requests to `/same` are
 * answered with a number. `hold` leaves calls of a name open.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface CallsServer {
  readonly url: string;
  /** Names of the calls so far. */
  readonly asked: string[];
  /** Their idempotency keys. */
  readonly keys: (string | undefined)[];
  /** When calls were answered last, in milliseconds since 1970. */
  readonly answered: Map<string, number>;
  /** Resolves when a call of the name arrives; it gets no answer. */
  hold(name: string): Promise<void>;
  release(): void;
  /** Milliseconds until the next answers. */
  delay: () => number;
  /** Answers in place of the usual ones. */
  answer: (name: string, reply: ServerResponse, body: string) => boolean;
}

export async function withCallsServer<T>(use: (server: CallsServer) => Promise<T>): Promise<T> {
  const held = new Map<string, () => void>();
  let same = 0;
  const server = createServer((request, reply) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk) => (body += chunk));
    request.on('error', () => undefined);
    reply.on('error', () => undefined);
    calls.keys.push(request.headers['idempotency-key'] as string | undefined);
    request.on('end', () => void answer(request.url!, body, reply));
  });

  async function answer(url: string, body: string, reply: ServerResponse): Promise<void> {
    const name = url === '/same' ? `same ${++same}` : ((JSON.parse(body || '{}').call as string) ?? url);
    calls.asked.push(name);
    const arrived = held.get(name);
    if (arrived !== undefined) return arrived();
    await wait(calls.delay());
    if (calls.answer(name, reply, body)) return;
    reply.writeHead(200, {
      'content-type': 'text/plain',
      date: 'x',
      'x-request-id': String(calls.asked.length),
    });
    if (url === '/stream') for (const part of ['answer', ' to ']) reply.write(part);
    calls.answered.set(name, Date.now());
    reply.end(url === '/stream' ? name : `answer to ${name}`);
  }

  const calls: CallsServer = {
    url: '',
    asked: [],
    keys: [],
    answered: new Map(),
    hold: (name) => new Promise((resolve) => held.set(name, resolve)),
    release: () => held.clear(),
    delay: () => 0,
    answer: () => false,
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  Object.assign(calls, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  try {
    return await use(calls);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
