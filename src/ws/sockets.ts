/**
 * Upgrades requests to WebSockets, and closes all sockets when the server stops.
 *
 * A1 An upgrade request passes the router like every other request; only the socket's route can grant it, after
 * authentication.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { CorsConfig } from '../config/http.ts';
import { bareReply } from '../http/bare-reply.ts';
import type { Env, ServerContext, SocketGrant, Upgrade } from '../http/context.ts';
import { socketOrigins } from '../http/cors.ts';
import { inTurn } from '../http/in-turn.ts';
import { refuseBare } from '../http/not-http.ts';
import { noAddress, problemReply } from '../http/replies.ts';
import { asksForWebSocket } from '../http/web-socket.ts';
import { shareTurns } from '../kernel/turn.ts';
import { isObject, type Json } from '../kernel/json.ts';
import { closeAs } from './close.ts';
import { serveSocket } from './connection.ts';
import { withoutUpgrade } from './plain-request.ts';

export interface SocketsOptions {
  readonly context: ServerContext;
  /** The router. */
  readonly fetch: (request: Request, bindings: Env['Bindings']) => Response | Promise<Response>;
  /** CORS policy, which also decides which pages may open sockets. */
  readonly cors: CorsConfig;
}

export interface Sockets {
  /** Handles the server's `upgrade` events. */
  attach(server: Server): void;
  /** Closes every socket with a 503, and terminates those still open after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const STOPPING = 'The server is stopping.';

export function openSockets({ context, fetch, cors }: SocketsOptions): Sockets {
  const originOf = socketOrigins(cors);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: context.maxBodyBytes,
    clientTracking: true,
  });
  // Refuses an invalid handshake, for example an unsupported version.
  server.on('wsClientError', ({ message }, socket) =>
    refuseBare(socket, 400, message, [['sec-websocket-version', '13']]),
  );
  const sendsInTurn = shareTurns();
  const connections = new Set<Promise<void>>();

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    let granted: SocketGrant | undefined;
    let admitted = false;
    const reply = await ask(request, {
      admit: () => void (admitted = true),
      grant: (grant) => void (granted = grant),
    });
    if (admitted && !reply.ok && reply.status >= 400) return closeWithRefusal(request, socket, head, reply);
    if (granted === undefined || !reply.ok) return refuse(socket, reply);
    const grant = granted;
    // The client may have disconnected meanwhile.
    if (socket.destroyed) return;
    server.handleUpgrade(request, socket, head, (opened) => {
      const done = serveSocket(opened, grant, context, sendsInTurn).done.finally(() =>
        connections.delete(done),
      );
      connections.add(done);
      if (context.stopping.aborted) closeAs(opened, 503, STOPPING);
    });
  }

  /** Opens the socket and closes it with the refusal: browsers cannot read the reply to an upgrade request. */
  async function closeWithRefusal(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    reply: Response,
  ): Promise<void> {
    const detail = await detailOf(reply);
    if (socket.destroyed) return;
    server.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => undefined);
      closeAs(opened, reply.status, detail);
    });
  }

  async function ask(request: IncomingMessage, upgrade: Upgrade['upgrade']): Promise<Response> {
    const { origin, host = 'localhost' } = request.headers;
    const url = toUrl(request.url ?? '/', host);
    if (url === undefined) return problemReply(noAddress());
    const allowed = originOf(origin, host);
    if (allowed === 'no')
      return Response.json({ detail: 'This origin may not open sockets.' }, { status: 403 });
    const headers = new Headers();
    for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
      headers.append(request.rawHeaders[i]!, request.rawHeaders[i + 1]!);
    // Browsers send cookies with every upgrade request, from pages of any origin.
    if (allowed === 'without-credentials') headers.delete('cookie');
    const asked = new Request(url, { headers });
    return fetch(asked, { upgrade });
  }

  return {
    attach(http) {
      http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        // Until the handshake completes, no other listener handles errors of the socket.
        socket.on('error', () => socket.destroy());
        // Earlier requests of the connection are answered first.
        inTurn(socket, () => {
          if (!asksForWebSocket(request)) return withoutUpgrade(http, request, socket, head);
          upgrade(request, socket, head).catch((error: unknown) => {
            context.onFault(error, 'opening a socket');
            socket.destroy();
          });
        });
      });
    },
    async close(graceMs) {
      for (const socket of server.clients) closeAs(socket, 503, STOPPING);
      const cancel = context.clock.after(graceMs, () => {
        for (const socket of server.clients) socket.terminate();
      });
      await Promise.all(connections);
      cancel();
      server.close();
    },
  };
}

/** Undefined for an invalid target or host. A target that begins with two slashes is a path, not a host. */
function toUrl(target: string, host: string): URL | undefined {
  const text = target.startsWith('/') ? `http://${host}${target}` : target;
  if (!/^[^\s/\\?#@]+$/.test(host) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
}

async function detailOf(reply: Response): Promise<string> {
  const body = (await reply.json().catch(() => null)) as Json;
  const detail = isObject(body) ? body['detail'] : undefined;
  return typeof detail === 'string' ? detail : reply.statusText;
}

/** Writes the router's reply to a socket that Node has detached from the HTTP server. */
async function refuse(socket: Duplex, reply: Response): Promise<void> {
  // Only JSON and plain text are read to their end: a stream might never end.
  const isText = /json|text\/plain/.test(reply.headers.get('content-type') ?? '');
  if (reply.ok) {
    await reply.body?.cancel();
    const detail = 'There is no socket here: ask without an upgrade';
    return refuse(socket, Response.json({ detail }, { status: 426, headers: { upgrade: 'websocket' } }));
  }
  const body = isText ? await reply.text() : '';
  if (!isText) await reply.body?.cancel();
  const { status } = reply;
  const headers = [...reply.headers].filter(
    ([name]) => !/^(connection|content-length|transfer-encoding)$/.test(name),
  );
  socket.end(bareReply(status, headers, body));
}
