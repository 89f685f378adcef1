/**
 * Intercepts `fetch` and undici: wraps the dispatchers that Node and npm's undici share under global symbols. Handlers
 * exist in two forms, of undici up to 7 (`onHeaders`, `onData`) and of later versions (`onResponseStart`, …).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { noteAsked } from './asked.ts';
import type { RecordedAnswer } from './parts.ts';
import { toFailure } from './replies.ts';
import { headerOf, withKey } from './request-headers.ts';
import {
  currentSession,
  inFetch,
  inTransport,
  isInTransport,
  type Exchange,
  type Receiver,
  type ReplaySession,
} from './session.ts';

interface Options {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method: string;
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly upgrade?: unknown;
}
type Handler = Record<string, ((...args: any[]) => any) | undefined>;
interface Dispatcher {
  dispatch(options: Options, handler: Handler): boolean;
}

const SYMBOLS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
const wrappers = new WeakSet<object>();

/**
 * Wraps the global dispatchers. Call it again after user code has loaded: that may have set others. Node loads its own at the
 * first use of this global, which takes 17 MB: `isLoading` does not wait for a request.
 */
export function interceptDispatchers(isLoading: boolean): void {
  if (isLoading) void globalThis.Response;
  const shared = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  for (const symbol of SYMBOLS) {
    const inner = shared[symbol];
    if (inner === undefined || wrappers.has(inner)) continue;
    const wrapper = wrap(inner);
    wrappers.add(wrapper);
    shared[symbol] = wrapper;
  }
}

let isFetchMarked = false;

/** Marks what `fetch` does itself as transport. Call it before graph code loads, which may keep the function. */
export function interceptFetch(): void {
  if (isFetchMarked) return;
  isFetchMarked = true;
  const { fetch } = globalThis;
  globalThis.fetch = Object.defineProperty(
    (...args: Parameters<typeof fetch>) => {
      if (currentSession() === undefined) return fetch(...args);
      interceptDispatchers(true);
      return inFetch(() => fetch(...args));
    },
    'name',
    { value: 'fetch' },
  );
}

function wrap(inner: Dispatcher): Dispatcher {
  const dispatch = (options: Options, handler: Handler): boolean => {
    const session = currentSession();
    if (isInTransport() || options.upgrade || options.method === 'CONNECT')
      return inner.dispatch(options, handler);
    const url = new URL(options.path, options.origin).href;
    noteAsked(options.method, url);
    if (session === undefined) return inner.dispatch(options, handler);
    const request = {
      method: options.method,
      url,
      contentType: headerOf(options.headers, 'content-type'),
      contentEncoding: headerOf(options.headers, 'content-encoding'),
    };
    const answering = session.mode === 'replay' ? session : session.kept?.();
    if (answering !== undefined) {
      const send = (body: Uint8Array | null, exchange?: Exchange): boolean =>
        exchange === undefined
          ? inner.dispatch({ ...options, body }, handler)
          : inner.dispatch({ ...withKey(options, exchange), body }, observe(handler, exchange));
      void inTransport(() => replay(answering, request, options, handler, send));
      return true;
    }
    const exchange = session.mode === 'record' ? session.open(request) : undefined;
    if (exchange === undefined) return inTransport(() => inner.dispatch(options, handler));
    const observed = { ...withKey(options, exchange), body: observeBody(options.body, exchange) };
    return inTransport(() => inner.dispatch(observed, observe(handler, exchange)));
  };
  // Other members (`close`, `destroy`, events) are those of the dispatcher itself.
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'dispatch') return dispatch;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array | string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

const toBytes = (chunk: Uint8Array | string): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk) : chunk;

function observeBody(body: unknown, exchange: Exchange): unknown {
  if (typeof body === 'string' || body instanceof Uint8Array) exchange.sent(toBytes(body));
  if (!isStream(body)) return body;
  return (async function* () {
    for await (const chunk of body) {
      exchange.sent(toBytes(chunk));
      yield chunk;
    }
  })();
}

async function readBody(body: unknown): Promise<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) return toBytes(body);
  const chunks: Uint8Array[] = [];
  if (isStream(body)) for await (const chunk of body) chunks.push(toBytes(chunk));
  return Buffer.concat(chunks);
}

const HOOKS = [
  ...[
    'onConnect',
    'onHeaders',
    'onData',
    'onComplete',
    'onError',
    'onUpgrade',
    'onBodySent',
    'onRequestSent',
  ],
  ...['onResponseStarted', 'onRequestStart', 'onRequestUpgrade', 'onResponseStart', 'onResponseData'],
  ...['onResponseEnd', 'onResponseError'],
];

/** A handler that tells the exchange what it passes on. A kept connection has the context of its first request. */
function observe(handler: Handler, exchange: Exchange): Handler {
  const seen: Handler = {
    onRequestStart: (controller: { abort(reason: unknown): void }) => {
      const abort = controller.abort.bind(controller);
      controller.abort = (reason) => {
        exchange.aborted();
        abort(reason);
      };
    },
    onHeaders(status: number, raw: readonly Uint8Array[], _resume: unknown, statusText?: string) {
      if (status >= 200) exchange.answered(status, statusText, pairsOf(raw));
    },
    onData: (chunk: Uint8Array) => exchange.received(chunk),
    onComplete: () => exchange.ended(),
    onError: (error: unknown) => exchange.ended(toFailure(error)),
    onResponseStart(_: unknown, status: number, headers: Headers, statusText?: string) {
      if (status >= 200) exchange.answered(status, statusText, listOf(headers));
    },
    onResponseData: (_: unknown, chunk: Uint8Array) => exchange.received(chunk),
    onResponseEnd: () => exchange.ended(),
    onResponseError: (_: unknown, error: unknown) => exchange.ended(toFailure(error)),
  };
  const inContext = AsyncLocalStorage.snapshot();
  return Object.fromEntries(
    HOOKS.filter((name) => typeof handler[name] === 'function').map((name) => [
      name,
      (...args: unknown[]) => {
        seen[name]?.(...args);
        if (name === 'onConnect') args[0] = aborting(args[0] as Abort, exchange);
        return inContext(() => handler[name]!(...args) as unknown);
      },
    ]),
  );
}

type Abort = (reason?: unknown) => void;

const aborting =
  (abort: Abort, exchange: Exchange): Abort =>
  (reason) => {
    exchange.aborted();
    abort(reason);
  };

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Pairs = RecordedAnswer['headers'];

const pairsOf = (raw: readonly Uint8Array[]): Pairs =>
  Array.from({ length: raw.length / 2 }, (_, index) => [
    Buffer.from(raw[2 * index]!).toString('latin1'),
    Buffer.from(raw[2 * index + 1]!).toString('latin1'),
  ]);
const listOf = (headers: Headers): Pairs =>
  Object.entries(headers).flatMap(([name, value = []]) =>
    (typeof value === 'string' ? [value] : value).map((each) => [name, each] as const),
  );

async function replay(
  session: Pick<ReplaySession, 'reply'>,
  request: Parameters<ReplaySession['reply']>[0],
  { body }: Options,
  handler: Handler,
  send: (body: Uint8Array | null, exchange?: Exchange) => unknown,
): Promise<void> {
  let drop = (): void => undefined;
  const call = openHandler(handler, () => drop());
  try {
    const sent = await readBody(body);
    const reply = session.reply(request, sent, call);
    if (reply.kind === 'live') return void send(sent.length === 0 ? null : sent, reply.exchange);
    drop = reply.drop;
    call.started();
  } catch (error) {
    call.failed(error as Error);
  }
}

interface Call extends Receiver {
  started(): void;
}

/** Calls a handler of either form. A handler that was aborted gets its abort reason as error, and nothing after it. */
function openHandler(handler: Handler, onAbort: () => void): Call {
  let isOver = false;
  const isNew = typeof handler['onRequestStart'] === 'function';
  const controller = {
    ...{ paused: false, aborted: false, reason: null as Error | null, rawHeaders: [], rawTrailers: [] },
    pause: () => undefined,
    resume: () => undefined,
    abort(reason?: Error) {
      if (controller.aborted) return;
      controller.aborted = true;
      controller.reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
      onAbort();
      fail(controller.reason);
    },
  };
  function fail(error: Error): void {
    if (isOver) return;
    isOver = true;
    if (isNew) handler['onResponseError']?.(controller, error);
    else handler['onError']?.(error);
  }
  return {
    started() {
      if (isNew) handler['onRequestStart']!(controller, {});
      else handler['onConnect']?.(controller.abort, null);
    },
    head({ status, statusText = '', headers }) {
      if (isOver) return;
      const raw = headers.flat().map((text) => Buffer.from(text, 'latin1'));
      if (isNew) handler['onResponseStart']?.(controller, status, toHeaders(headers), statusText);
      else handler['onHeaders']?.(status, raw, controller.resume, statusText);
    },
    data(chunk) {
      if (isOver) return;
      if (isNew) handler['onResponseData']?.(controller, chunk);
      else handler['onData']?.(chunk);
    },
    completed() {
      if (isOver) return;
      isOver = true;
      if (isNew) handler['onResponseEnd']?.(controller, {});
      else handler['onComplete']?.([]);
    },
    failed: fail,
  };
}

function toHeaders(pairs: Pairs): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const known = headers[key];
    headers[key] = known === undefined ? value : [...(Array.isArray(known) ? known : [known]), value];
  }
  return headers;
}
