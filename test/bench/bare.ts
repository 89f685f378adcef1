/** A server that reads a body and answers `{}`, without anything behind it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';

function open(kind: 'http' | 'hono'): Server {
  if (kind === 'http')
    return createServer((request, response) => {
      request.resume();
      request.on('end', () => response.end('{}'));
    });
  const app = new Hono();
  app.post('/', async (c) => c.json((await c.req.json()) as object));
  return createAdaptorServer({ fetch: app.fetch }) as Server;
}

process.once('message', (kind: 'http' | 'hono') => {
  const server = open(kind);
  server.listen(0, '127.0.0.1', () =>
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
});
