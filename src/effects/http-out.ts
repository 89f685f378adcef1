/**
 * Sends HTTP POSTs to webhook receivers; the server itself opens no other outgoing connections.
 *
 * W4 The URL is checked before every attempt, and every address, literal or resolved, when a socket connects. The
 * socket connects to the checked address. Redirects count as answers and are never followed.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Agent, buildConnector, request } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import type { Posted } from '../delivery/decide.ts';
import { bareHost, checkWebhookUrl, findAddressProblem, type UrlPolicy } from '../delivery/url-policy.ts';

export type { Posted };

export interface HttpOut {
  /** Prepares a POST to the URL. Throws when that fails now; it may be called again. */
  open(url: string): void;
  /** Never rejects. Ends within the deadline; reads at most 64 KiB of the answer's body. */
  post(url: string, headers: Record<string, string>, body: string): Promise<Posted>;
  close(): Promise<void>;
}

/** Resolves a host name to all its addresses. */
type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface HttpOutOptions {
  readonly policy: UrlPolicy;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly resolve?: Resolve;
  /** URL check before each attempt. */
  readonly check?: typeof checkWebhookUrl;
  /** Creates the socket connector; `lookup` answers with the address that was checked. */
  readonly dial?: (lookup: LookupFunction) => buildConnector.connector;
}

/** A body up to this size is read fully so that its socket can be reused; a larger one closes the socket. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_KEPT_ANSWER_BYTES = 1024;
/** Upper bound per receiver; the host gate enforces the actual limit. */
const MAX_CONNECTIONS = 64;

const STOPPING = 'the server is stopping';

interface Out {
  readonly agent: Agent;
  readonly request: typeof request;
}

const systemResolve: Resolve = (hostname, done) => lookup(hostname, { all: true }, done);

export function createHttpOut(options: HttpOutOptions): HttpOut {
  const { policy, clock, deadlineMs, resolve = systemResolve, check = checkWebhookUrl } = options;
  let closed = false;
  let opened: Out | undefined;
  const loadClient = prepareClient();
  function open(): Out {
    // Loaded with the first delivery: loading takes 5 % of start-up time, and most servers send no webhooks.
    const { Agent, buildConnector, request } = loadClient();
    const dial = options.dial ?? ((lookup) => buildConnector({ timeout: deadlineMs, lookup }));
    const connect = dial(checkedLookup(policy, resolve));
    const agent = new Agent({
      connect(target, callback) {
        // The lookup hook is not called for literal addresses.
        const host = bareHost(target.hostname);
        const problem = ipaddr.isValid(host) ? findAddressProblem(host, policy) : undefined;
        if (problem === undefined) connect(target, callback);
        else callback(new Error(problem), null);
      },
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
      maxHeaderSize: 16_384,
      connections: MAX_CONNECTIONS,
    });
    return { agent, request };
  }
  const underWay = new Set<AbortController>();
  return {
    open: () => void (opened ??= open()),
    async post(url, headers, body) {
      const checked = check(url, policy);
      if (!checked.ok) return { kind: 'denied', error: checked.problem };
      if (checked.kind === 'own')
        return { kind: 'denied', error: 'paths of this server are not reached by sockets' };
      const deadline = new AbortController();
      underWay.add(deadline);
      const expired = new Error(`the receiver took longer than ${deadlineMs / 1000} s`);
      const cancel = clock.after(deadlineMs, () => deadline.abort(expired));
      try {
        if (closed) throw new Error(STOPPING);
        const { agent, request } = (opened ??= open());
        const answer = await request(checked.url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal: deadline.signal,
        });
        const retryAfter = answer.headers['retry-after'];
        return {
          kind: 'answered',
          status: answer.statusCode,
          ...(typeof retryAfter === 'string' && { retryAfter }),
          response: await beginningOf(answer.body),
        };
      } catch (error) {
        return { kind: 'failed', error: messageOf(error) };
      } finally {
        cancel();
        underWay.delete(deadline);
      }
    },
    async close() {
      closed = true;
      // Pending requests are aborted one by one: `agent.destroy` misses those of a receiver whose connections broke.
      for (const deadline of underWay) deadline.abort(new Error(STOPPING));
      await opened?.agent.destroy();
    },
  };
}

/**
 * Returns a function that loads undici. Loading may fail while file descriptors are exhausted, and is retried.
 * `import` would cache the failure, and `require` would cache an unreadable package.json, so the path is resolved now.
 */
function prepareClient(): () => typeof import('undici') {
  const require = createRequire(import.meta.url);
  const path = require.resolve('undici');
  return () => {
    const before = new Set(Object.keys(require.cache));
    try {
      return require(path) as typeof import('undici');
    } catch (error) {
      // Partly loaded modules must leave the cache: undici's files import each other in cycles.
      for (const file of Object.keys(require.cache)) if (!before.has(file)) delete require.cache[file];
      throw error;
    }
  };
}

/**
 * Returns the first 1024 bytes of a body as text. Reads on up to a bound, discards the rest and decompresses nothing.
 */
export async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let seen = 0;
  try {
    for await (const chunk of body) {
      if (seen < MAX_KEPT_ANSWER_BYTES) kept.push(chunk.subarray(0, MAX_KEPT_ANSWER_BYTES - seen));
      seen += chunk.length;
      if (seen >= MAX_ANSWER_BYTES) break;
    }
  } catch (error) {
    // Only the status decides about the delivery, so a body that breaks off changes nothing.
    if (!(error instanceof Error)) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true });
}

/** An `AggregateError` of several failed addresses has an empty message, so the messages of its errors are joined. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => messageOf(each)).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}

function checkedLookup(policy: UrlPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined)
        return callback(error ?? new Error(`${hostname} has no address`), '', 4);
      // One private address among public ones is denied too: such a DNS answer is not trustworthy.
      for (const { address } of addresses) {
        const problem = findAddressProblem(address, policy);
        if (problem !== undefined) return callback(new Error(`${hostname}: ${problem}`), '', 4);
      }
      // Returns the one checked address: a second DNS query could be answered differently.
      if (options.all === true) return callback(null, [first]);
      return callback(null, first.address, first.family);
    });
  };
}
