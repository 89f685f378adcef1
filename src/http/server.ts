/**
 * The listening socket. Whoever dawdles over a request, or takes nothing of a reply for long, loses the connection:
 * what it holds of the server must come back without its help.
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
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
  /** Open sockets. */
  connections(): Promise<number>;
  /** Takes no new connections and ends the idle ones; breaks off the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly fetch: EdgeFetch;
  /** Takes the place of `fetch` for requests of graph code, which carry the token. */
  readonly forWorkers?: { readonly token: string; readonly fetch: typeof fetch };
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly patience: Config['patience'];
  readonly onFault: (error: unknown, where: string) => void;
  /** Given the server before it listens. */
  readonly prepare?: (server: Server) => void;
}

/** How often connections are looked at for being late. */
const CHECK_MS = 2_000;

/** Rejects when the address cannot be taken. */
export async function listen(options: ListenOptions): Promise<HttpServer> {
  const { fetch, forWorkers, host, port, clock, prepare, patience, onFault } = options;
  const { headersMs, requestMs, stalledMs } = patience;
  const inTurn = shareTurns();
  const ofWorkers = new WeakSet<IncomingMessage>();
  // Node before 24.9 does not ask: plain-request.ts undoes what it does instead.
  const upgrades = {
    shouldUpgradeCallback: (request: IncomingMessage): boolean =>
      server.listenerCount('upgrade') > 0 && asksForWebSocket(request),
  };
  const server = createAdaptorServer({
    async fetch(request, bindings) {
      // HTTP/1 is all that this server speaks.
      const { incoming, outgoing } = bindings as HttpBindings;
      const problem = hostProblem(incoming);
      if (problem === undefined && forWorkers !== undefined && ofWorkers.has(incoming))
        return forWorkers.fetch(request);
      const response = problem ? problemReply(problem) : await fetch(request, { incoming, outgoing });
      const large = largeBodyOf(response);
      // S3 A hundred clients may be sent the same, and to hand it to each of their sockets takes a while.
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
    // HTTP/1.0 clients (health checks of load balancers) name no host.
    hostname: 'localhost',
    serverOptions: {
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: CHECK_MS,
      requireHostHeader: false,
      ...upgrades,
    },
  }) as Server;
  // An offer of another protocol that is passed over: newer versions of Node lose what follows it on its connection.
  server.prependListener('request', ({ headers }: IncomingMessage, outgoing: ServerResponse) => {
    if (headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
  });
  if (forWorkers !== undefined)
    server.prependListener('request', (incoming: IncomingMessage) => {
      if (takeWorkerToken(incoming) === forWorkers.token) ofWorkers.add(incoming);
    });
  answerInTurn(server);
  explainRefusals(server, patience);
  // A reply that nobody takes. Without a listener Node would also end those that have nothing to say for so long.
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

/** The token of a graph worker, which is taken out of the request: no handler and no application sees it. */
function takeWorkerToken({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const token = headers[WORKER_HEADER];
  if (token === undefined) return undefined;
  delete headers[WORKER_HEADER];
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (rawHeaders[at]!.toLowerCase() === WORKER_HEADER) rawHeaders.splice(at, 2);
  return String(token);
}

/** Says why nothing can listen there, undefined when it can. A free port (0) is not asked for. */
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

/** Why the server cannot listen, in words for the person who started it. */
export function addressProblem(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${message})`;
  return `port ${port} of ${host} ${reason}; choose another address with --host and --port`;
}
