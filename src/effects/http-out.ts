/**
 * The only way out of the process: POSTs to webhook receivers.
 *
 * W4 The URL is checked before every attempt and every address when a socket connects, literal or resolved; the socket
 * goes to the address that was checked. Redirects are answers like any other: they are never followed.
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
  /** Gets ready for a post to it. Throws when that cannot be done now; it may be called again. */
  open(url: string): void;
  /** Never rejects. Ends within the deadline; at most a little of the answer's body is read. */
  post(url: string, headers: Record<string, string>, body: string): Promise<Posted>;
  close(): Promise<void>;
}

/** All addresses of a name. */
export type Resolve = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface HttpOutOptions {
  readonly policy: UrlPolicy;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly resolve?: Resolve;
  /** The check before an attempt. */
  readonly check?: typeof checkWebhookUrl;
  /** Opens the socket once the policy has agreed; `lookup` answers with the address that was checked. */
  readonly dial?: (lookup: LookupFunction) => buildConnector.connector;
}

/** Enough to let a polite receiver's socket be used again; more is dropped with the socket. */
const MAX_ANSWER_BYTES = 65_536;
const KEPT_ANSWER_BYTES = 1024;
/** As many as a host may ever have under way: how many it has is not decided here. */
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
    // With the first delivery: the client is a twentieth of a start, and most servers are asked for none.
    const { Agent, buildConnector, request } = loadClient();
    const dial = options.dial ?? ((lookup) => buildConnector({ timeout: deadlineMs, lookup }));
    const connect = dial(checkedLookup(policy, resolve));
    const agent = new Agent({
      connect(target, callback) {
        // The lookup hook is not asked about literal addresses.
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
        return { kind: 'failed', error: wordsOf(error) };
      } finally {
        cancel();
        underWay.delete(deadline);
      }
    },
    async close() {
      closed = true;
      // The agent forgets a receiver whose connections broke off, and with it the requests that wait there.
      for (const deadline of underWay) deadline.abort(new Error(STOPPING));
      await opened?.agent.destroy();
    },
  };
}

/**
 * How to load the client, which may fail for want of files and is tried again then: `import` would remember the failure,
 * and either of the two that a description of the package could not be read, so its place is looked up now.
 */
function prepareClient(): () => typeof import('undici') {
  const require = createRequire(import.meta.url);
  const place = require.resolve('undici');
  return () => {
    const before = new Set(Object.keys(require.cache));
    try {
      return require(place) as typeof import('undici');
    } catch (error) {
      // Its files refer to each other in circles: those that were loaded hold on to what was not.
      for (const file of Object.keys(require.cache)) if (!before.has(file)) delete require.cache[file];
      throw error;
    }
  };
}

/** The first bytes of a body as text; the rest is read up to a bound and thrown away, as it came: nothing is unpacked. */
export async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const kept: Uint8Array[] = [];
  let seen = 0;
  try {
    for await (const chunk of body) {
      if (seen < KEPT_ANSWER_BYTES) kept.push(chunk.subarray(0, KEPT_ANSWER_BYTES - seen));
      seen += chunk.length;
      if (seen >= MAX_ANSWER_BYTES) break;
    }
  } catch (error) {
    // The status was said, and that is what counts: a body that breaks off or never ends changes nothing about it.
    if (!(error instanceof Error)) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true });
}

/** Several addresses that failed are one error without words. */
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => wordsOf(each)).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}

function checkedLookup(policy: UrlPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null || first === undefined)
        return callback(error ?? new Error(`${hostname} has no address`), '', 4);
      // One private answer among public ones is denied too: whoever sends such answers is not to be trusted.
      for (const { address } of addresses) {
        const problem = findAddressProblem(address, policy);
        if (problem !== undefined) return callback(new Error(`${hostname}: ${problem}`), '', 4);
      }
      // One of them and no other: a second question may be answered differently.
      if (options.all === true) return callback(null, [first]);
      return callback(null, first.address, first.family);
    });
  };
}
