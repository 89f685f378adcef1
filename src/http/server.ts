/**
 * The HTTP server: listening, time-outs, and the order of the modules that handle a connection. A client that sends its
 * request slowly or stops reading a reply loses the connection, so that its memory is freed.
 */
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Clock } from '../kernel/clock.ts';
import { shareTurns } from '../kernel/turn.ts';
import type { Config } from '../config/config.ts';
import type { EdgeFetch } from './edge.ts';
import { WORKER_HEADER } from '../kernel/server-address.ts';
import { streamingBodyOf } from './streaming-body.ts';
import { answerInTurn } from './in-turn.ts';
import { explainRefusals, hostProblem } from './not-http.ts';
import { endIdleConnections } from './connections.ts';
import { largeBodyOf, problemReply } from './replies.ts';
import { sendStreamingBody } from './send-streaming-body.ts';
import { noteSent, watchSlowReaders } from './slow-readers.ts';
import { asksForWebSocket } from './web-socket.ts';

export interface HttpServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  /** Number of open sockets. */
  connections(): Promise<number>;
  /** Accepts no new connections, ends idle ones, and destroys the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly fetch: EdgeFetch;
  /** Replaces `fetch` for requests of graph code, which carry the token. */
  readonly forWorkers?: { readonly token: string; readonly fetch: typeof fetch };
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly patience: Config['patience'];
  readonly onFault: (error: unknown, where: string) => void;
  /** Called with the server before it listens. */
  readonly prepare?: (server: Server) => void;
}

/** Interval of Node's check for late requests. */
const CHECK_INTERVAL_MS = 2_000;

/** Rejects when the server cannot listen on the address. */
export async function listen(options: ListenOptions): Promise<HttpServer> {
  const { fetch, forWorkers, host, port, clock, prepare, patience, onFault } = options;
  const { headersMs, requestMs, stalledMs } = patience;
  const inTurn = shareTurns();
  const ofWorkers = new WeakSet<IncomingMessage>();
  // Node before 24.9 ignores this option and upgrades every request: plain-request.ts undoes that.
  const upgrades = {
    shouldUpgradeCallback: (request: IncomingMessage): boolean =>
      server.listenerCount('upgrade') > 0 && asksForWebSocket(request),
  };
  const server = createAdaptorServer({
    async fetch(request, bindings) {
      // The bindings are those of HTTP/1: this server has no HTTP/2.
      const { incoming, outgoing } = bindings as HttpBindings;
      const problem = hostProblem(incoming);
      if (problem === undefined && forWorkers !== undefined && ofWorkers.has(incoming))
        return forWorkers.fetch(request);
      const response = problem ? problemReply(problem) : await fetch(request, { incoming, outgoing });
      const large = largeBodyOf(response);
      // S3 Many clients may get large replies at once, and each write copies one to a socket: they wait in turn.
      if (large !== undefined) await inTurn();
      if (outgoing.socket !== null) noteSent(outgoing.socket, large);
      const body = streamingBodyOf(response, outgoing);
      if (body === undefined) return response;
      sendStreamingBody(response, body, outgoing, {
        inTurn,
        onFault: (error) => onFault(error, 'sending a reply'),
      });
      return RESPONSE_ALREADY_SENT;
    },
    // Host name for HTTP/1.0 requests without a Host header (health checks of load balancers).
    hostname: 'localhost',
    serverOptions: {
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      requireHostHeader: false,
      ...upgrades,
    },
  }) as Server;
  // Newer Node versions lose the requests that follow an ignored upgrade offer, so the connection ends after the reply.
  server.prependListener('request', ({ headers }: IncomingMessage, outgoing: ServerResponse) => {
    if (headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
  });
  if (forWorkers !== undefined)
    server.prependListener('request', (incoming: IncomingMessage) => {
      if (takeWorkerToken(incoming) === forWorkers.token) ofWorkers.add(incoming);
    });
  answerInTurn(server);
  explainRefusals(server, patience);
  // Destroys sockets whose reply is not read. Without this listener Node would also destroy idle sockets.
  server.setTimeout(stalledMs, (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
  });
  const stopWatching = watchSlowReaders(server, clock);
  endIdleConnections(server);
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
      const cancel = clock.after(graceMs, () => server.closeAllConnections());
      await closed;
      cancel();
      stopWatching();
    },
  };
}

/** Removes a graph worker's token from the request, so that no handler or custom app sees it, and returns it. */
function takeWorkerToken({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const token = headers[WORKER_HEADER];
  if (token === undefined) return undefined;
  delete headers[WORKER_HEADER];
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]!.toLowerCase() === WORKER_HEADER) rawHeaders.splice(at, 2);
  return String(token);
}

/** Why the server cannot listen on the address; undefined when it can, and always for port 0. */
export async function portProblem(host: string, port: number): Promise<string | undefined> {
  if (port === 0) return undefined;
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return undefined;
  } catch (error) {
    return addressProblem(error, host, port);
  } finally {
    probe.close();
  }
}

/** Error message for the operator. */
export function addressProblem(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${message})`;
  return `port ${port} of ${host} ${reason}; choose another address with --host and --port`;
}
