/** Replies in JSON to requests that Node cannot parse or that the HTTP specification says to refuse. */
import { maxHeaderSize, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../config/config.ts';
import { bareReply } from './bare-reply.ts';
import { badHost, HttpProblem } from './replies.ts';

/** The error of Node's `clientError` event. */
interface ReadError extends Error {
  readonly code?: string;
  /** The parser's description of the error. */
  readonly reason?: string;
}

/** The latest reply of each connection. */
const replies = new WeakMap<Duplex, ServerResponse>();

/** Call after the server has its `request` listener: this one runs before it and records the reply. */
export function explainRefusals(server: Server, patience: Config['patience']): void {
  server.prependListener('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    replies.set(incoming.socket, outgoing);
    // The target of `OPTIONS *` is not a path: building a URL from it would throw.
    if (incoming.url === '*') incoming.url = '/*';
  });
  server.on('checkExpectation', (_: IncomingMessage, outgoing: ServerResponse) => {
    const body = JSON.stringify({ detail: 'expect: expected "100-continue"' });
    const headers = { 'content-type': 'application/json', connection: 'close' };
    outgoing.writeHead(417, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  });
  server.on('connect', (_: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    refuseBare(socket, 501, 'This server is no proxy: CONNECT is not supported.');
  });
  server.on('clientError', (error: ReadError, socket: Duplex) => {
    const reply = replies.get(socket);
    const isAmidReply = reply !== undefined && reply.headersSent && !reply.writableFinished;
    if (!socket.writable || error.code === 'ECONNRESET' || isAmidReply) return void socket.destroy(error);
    const { status, message } = problemOf(error, patience);
    refuseBare(socket, status, message);
  });
}

/** Writes a JSON refusal to a socket that has no `ServerResponse`, and closes it. */
export function refuseBare(
  socket: Duplex,
  status: number,
  detail: string,
  headers: readonly (readonly [string, string])[] = [],
): void {
  const body = JSON.stringify({ detail });
  const all = [['content-type', 'application/json'] as const, ...headers];
  socket.end(bareReply(status, all, body), () => socket.destroy());
}

/** RFC 9112, 3.2: refuses a request with no or several Host headers, which a proxy may interpret in another way. */
export function hostProblem({ httpVersionMinor, rawHeaders }: IncomingMessage): HttpProblem | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts += 1;
  return hosts > 1 || (hosts === 0 && httpVersionMinor > 0) ? badHost(hosts) : undefined;
}

function problemOf({ code, reason, message }: ReadError, { headersMs, requestMs }: Config['patience']) {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem(431, `headers: expected at most ${maxHeaderSize} bytes`);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpProblem(413, 'body: expected chunks without long extensions');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem(
        408,
        `The request did not arrive in time: headers within ${headersMs / 1000} s and all of it within ${requestMs / 1000} s are expected.`,
      );
    default:
      return new HttpProblem(400, `This is not HTTP/1.1: ${reason ?? message}`);
  }
}
