/** The listening socket. */
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import type { EdgeFetch } from './edge.ts';

export interface HttpServer {
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
  /** Open sockets. */
  connections(): Promise<number>;
  /** Takes no new connections and ends the idle ones; breaks off the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly fetch: EdgeFetch;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  /** Given the server before it listens. */
  readonly prepare?: (server: Server) => void;
}

/** Rejects when the address cannot be taken. */
export async function listen({ fetch, host, port, clock, prepare }: ListenOptions): Promise<HttpServer> {
  const server = createAdaptorServer({
    // HTTP/1 is all that this server speaks.
    fetch: (request, bindings) => fetch(request, bindings as HttpBindings),
    serverOptions: { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 },
  }) as Server;
  // Clients open connections ahead of need. Node counts one that has asked for nothing yet as busy.
  const unused = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  for (const used of ['request', 'upgrade'])
    server.on(used, ({ socket }: IncomingMessage) => unused.delete(socket));
  prepare?.(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
      const cancel = clock.after(graceMs, () => server.closeAllConnections());
      await closed;
      cancel();
    },
  };
}
