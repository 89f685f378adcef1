/**
 * A server whose answers and their times the query decides: `delay` at most so many milliseconds more than `least`, `chunks` with `gap`
 * milliseconds between them, `status`, `gzip`, `hang`, `reset`, `cut` after half of the answer, `flaky` fails so many times
 * but one for each `key`. Answers are numbered, so that no two are equal.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createRandom } from '../support/random.ts';

export async function withAnswersServer<T>(seed: number, use: (url: string) => Promise<T>): Promise<T> {
  const random = createRandom(seed);
  const failures = new Map<string, number>();
  let requests = 0;

  async function answer(query: URLSearchParams, reply: ServerResponse): Promise<void> {
    const number = (requests += 1);
    const given = (name: string, other: number): number => Number(query.get(name) ?? other);
    await wait(given('least', 0) + random.int(0, given('delay', 1)));
    if (query.has('hang')) return;
    if (query.has('reset')) return void reply.socket?.resetAndDestroy();
    const key = query.get('key') ?? '';
    const failed = failures.get(key) ?? 0;
    failures.set(key, failed + 1);
    const isFailing = (failed + 1) % given('flaky', 1) !== 0;
    const status = isFailing ? 503 : given('status', 200);
    const count = given('chunks', 1);
    reply.writeHead(status, { ...(query.has('gzip') && { 'content-encoding': 'gzip' }) });
    for (let at = 0; at < count; at++) {
      if (query.has('cut') && at > 0) return void reply.socket?.resetAndDestroy();
      const text = `#${at} of ${number} `;
      reply.write(query.has('gzip') ? gzipSync(text) : text);
      if (at + 1 < count) await wait(random.int(0, given('gap', 0)));
    }
    reply.end();
  }

  const server = createServer((request, reply) => {
    request.resume();
    request.on('end', () => void answer(new URL(request.url!, 'http://server').searchParams, reply));
    request.on('error', () => undefined);
    reply.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
