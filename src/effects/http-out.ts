/**
 * The only way out of the process: POSTs to webhook receivers.
 *
 * W4 Every address is checked when the socket connects, literal or resolved, and the socket goes to the address that
 * was checked. Redirects are answers like any other: they are never followed.
 */
import { lookup as resolveName, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { Clock } from '../kernel/clock.ts';
import { isPublicAddress, type UrlPolicy } from '../delivery/url-policy.ts';

export type Posted =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly error: string };

export interface HttpOut {
  /** Never rejects. Ends within `deadlineMs`; at most a little of the answer's body is read. */
  post(url: string, headers: Record<string, string>, body: string): Promise<Posted>;
  close(): Promise<void>;
}

/** Enough to let a polite receiver's socket be used again; more is dropped with the socket. */
const MOST_ANSWER_BYTES = 65_536;

export function createHttpOut(policy: UrlPolicy, clock: Clock, deadlineMs: number): HttpOut {
  const connect = buildConnector({ timeout: deadlineMs, lookup: checkedLookup(policy) });
  const agent = new Agent({
    connect(options, callback) {
      // The lookup hook is not asked about literal addresses.
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (!policy.allowPrivate && isLiteral(host) && !isPublicAddress(host)) callback(denied(host), null);
      else connect(options, callback);
    },
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    maxHeaderSize: 16_384,
    connections: 8,
  });
  const underWay = new Set<AbortController>();
  return {
    async post(url, headers, body) {
      const deadline = new AbortController();
      underWay.add(deadline);
      const expired = new Error(`the receiver took longer than ${deadlineMs / 1000} s`);
      const cancel = clock.after(deadlineMs, () => deadline.abort(expired));
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal: deadline.signal,
        });
        await answer.body.dump({ limit: MOST_ANSWER_BYTES });
        return { kind: 'answered', status: answer.statusCode };
      } catch (error) {
        return { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
      } finally {
        cancel();
        underWay.delete(deadline);
      }
    },
    async close() {
      // The agent forgets a receiver whose connections broke off, and with it the requests that wait there.
      for (const deadline of underWay) deadline.abort(new Error('the server is stopping'));
      await agent.destroy();
    },
  };
}

const isLiteral = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(':');

const denied = (address: string): Error => new Error(`the address ${address} is not public`);

function checkedLookup(policy: UrlPolicy): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      const addresses: LookupAddress[] = Array.isArray(found) ? found : [];
      const first = addresses[0];
      if (error !== null || first === undefined)
        return callback(error ?? new Error(`${hostname} has no address`), '', 4);
      // One private answer among public ones is denied too: which one the socket would take is not ours to say.
      const internal = policy.allowPrivate
        ? undefined
        : addresses.find(({ address }) => !isPublicAddress(address));
      if (internal !== undefined) return callback(denied(internal.address), '', 4);
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
