/**
 * Intercepts `node:http` and `node:https` (axios, node-fetch, got) where an agent assigns a request to a socket.
 * Re-execution gives the request a stream that answers it, so Node's own parser reads the recorded answer.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { noteAsked } from './asked.ts';
import { IDEMPOTENCY_KEY } from './call-keys.ts';
import type { RecordedAnswer } from './parts.ts';
import { toFailure } from './replies.ts';
import {
  currentSession,
  inTransport,
  isInTransport,
  type Exchange,
  type OutgoingRequest,
  type Receiver,
  type ReplaySession,
} from './session.ts';

type Chunk = Uint8Array | string;
type Write = (chunk?: Chunk | (() => void) | null, ...rest: any[]) => any;
interface AgentMethods {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

let isInstalled = false;

export function interceptNodeHttp(): void {
  if (isInstalled) return;
  isInstalled = true;
  const agent = http.Agent.prototype as unknown as AgentMethods;
  const { addRequest } = agent;
  agent.addRequest = function (request, ...rest) {
    const session = currentSession();
    if (isInTransport()) return addRequest.call(this, request, ...rest);
    const outgoing = describe(request);
    noteAsked(outgoing.method, outgoing.url);
    if (session === undefined) return addRequest.call(this, request, ...rest);
    const inContext = AsyncLocalStorage.snapshot();
    listenInContext(request, inContext);
    request.prependOnceListener('response', (response) => listenInContext(response, inContext));
    if (session.mode === 'replay') return answer(session, outgoing, request);
    const send = (): void => inTransport(() => addRequest.call(this, request, ...rest));
    const kept = session.kept?.();
    // Such a request sends no body before the server has agreed.
    if (kept !== undefined && request.getHeader('expect') === undefined)
      return hold(kept, outgoing, request, send);
    const exchange = session.open(outgoing);
    if (exchange !== undefined) {
      observeBody(request, exchange.sent);
      observeAnswer(request, exchange);
    }
    send();
  };
}

/** Listeners belong to the code that made the request; the parser would call them as a part of transport. */
function listenInContext(
  emitter: EventEmitter,
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>,
): void {
  const emit = emitter.emit.bind(emitter);
  emitter.emit = (name: string | symbol, ...args: any[]) => inContext(() => emit(name, ...args));
}

function describe(request: ClientRequest): OutgoingRequest {
  const type = request.getHeader('content-type');
  const encoding = request.getHeader('content-encoding');
  const host = request.getHeader('host') ?? request.host;
  return {
    method: request.method,
    url: `${request.protocol}//${String(host)}${request.path}`,
    ...(type !== undefined && { contentType: String(type) }),
    ...(encoding !== undefined && { contentEncoding: String(encoding) }),
  };
}

/** Calls `onChunk` with everything that is written to the request, and `onEnd` when that is all. */
function observeBody(
  request: ClientRequest,
  onChunk: (chunk: Uint8Array) => void,
  onEnd: () => void = () => undefined,
): void {
  const methods = request as unknown as { write: Write; end: Write };
  for (const name of ['write', 'end'] as const) {
    const original = methods[name].bind(request);
    methods[name] = (chunk, ...rest) => {
      if (typeof chunk === 'string')
        onChunk(Buffer.from(chunk, typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'));
      else if (chunk instanceof Uint8Array) onChunk(chunk);
      const returned = original(chunk, ...rest) as unknown;
      if (name === 'end') onEnd();
      return returned;
    };
  }
}

function observeAnswer(request: ClientRequest, exchange: Exchange): void {
  const { idempotencyKey } = exchange;
  if (
    idempotencyKey !== undefined &&
    !request.headersSent &&
    request.getHeader(IDEMPOTENCY_KEY) === undefined
  )
    request.setHeader(IDEMPOTENCY_KEY, idempotencyKey);
  const destroy = request.destroy.bind(request);
  request.destroy = (error) => {
    exchange.aborted();
    return destroy(error);
  };
  request.prependOnceListener('response', (response: IncomingMessage) => {
    exchange.answered(response.statusCode ?? 0, response.statusMessage, pairsOf(response.rawHeaders));
    const push = response.push.bind(response);
    response.push = (chunk: Chunk | null, ...rest) => {
      if (chunk === null) exchange.ended();
      else exchange.received(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      return push(chunk, ...rest);
    };
    response.once('error', (error) => exchange.ended(toFailure(error)));
  });
  request.once('error', (error) => exchange.ended(toFailure(error)));
}

const pairsOf = (raw: readonly string[]): RecordedAnswer['headers'] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]);

/** The parser of the answer knows its end by the end of the stream. */
const FRAMING: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'content-length',
  'connection',
  'keep-alive',
]);

function answer(session: ReplaySession, outgoing: OutgoingRequest, request: ClientRequest): void {
  const sent: Uint8Array[] = [];
  observeBody(request, (chunk) => void sent.push(chunk.slice()));
  let isAsked = false;
  let drop = (): void => undefined;
  const ask = (): void => {
    if (isAsked) return;
    isAsked = true;
    try {
      const reply = session.reply(outgoing, Buffer.concat(sent), socket);
      if (reply.kind === 'live') throw new Error('only fetch and undici can go on with the real network');
      drop = reply.drop;
    } catch (error) {
      socket.destroy(error as Error);
    }
  };
  const socket = new AnsweringSocket();
  request.once('finish', ask);
  // A request that is broken off before its end was recorded too.
  socket.once('close', () => {
    ask();
    drop();
  });
  (request as unknown as { onSocket(socket: Duplex): void }).onSocket(socket);
}

/** Gives the request a socket when its body shows whether there is an answer. Until then the request collects the body. */
function hold(
  kept: Pick<ReplaySession, 'reply'>,
  outgoing: OutgoingRequest,
  request: ClientRequest,
  send: () => void,
): void {
  const sent: Uint8Array[] = [];
  let isHeld = true;
  const onChunk = (chunk: Uint8Array): void => {
    sent.push(chunk.slice());
    // Streams wait for it when the request has collected much.
    if (isHeld) setImmediate(() => isHeld && request.emit('drain'));
  };
  observeBody(request, onChunk, () => {
    if (!isHeld || request.destroyed) return;
    isHeld = false;
    const socket = new AnsweringSocket();
    const reply = kept.reply(outgoing, Buffer.concat(sent), socket);
    if (reply.kind === 'answer') {
      socket.once('close', reply.drop);
      return (request as unknown as { onSocket(socket: Duplex): void }).onSocket(socket);
    }
    if (reply.exchange !== undefined) observeAnswer(request, reply.exchange);
    send();
  });
}

class AnsweringSocket extends Duplex implements Receiver {
  readonly encrypted = true;
  constructor() {
    super({ allowHalfOpen: true });
  }
  override _read(): void {}
  override _write(_: unknown, __: unknown, done: () => void): void {
    done();
  }
  head({ status, statusText = '', headers }: Parameters<Receiver['head']>[0]): void {
    const lines = headers
      .filter(([name]) => !FRAMING.has(name.toLowerCase()))
      .map(([name, value]) => `${name}: ${value}\r\n`);
    this.push(`HTTP/1.1 ${status} ${statusText}\r\n${lines.join('')}connection: close\r\n\r\n`, 'latin1');
  }
  data = (chunk: Buffer): void => void this.push(chunk);
  completed = (): void => void this.push(null);
  failed = (error: Error): void => void this.destroy(error);
  // The request calls these methods of a socket.
  setTimeout = (): this => this;
  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
  destroySoon = (): void => void this.destroy();
}
