/**
 * Delivers webhooks to paths of this server, where configuration allows it: as in-process requests that pass through
 * the whole HTTP stack, without credentials. All other URLs go to `out`.
 */
import { checkWebhookUrl, type UrlPolicy } from '../delivery/url-policy.ts';
import type { Clock } from '../kernel/clock.ts';
import { beginningOf, type HttpOut, type Posted } from './http-out.ts';

export type OwnFetch = (request: Request) => Promise<Response>;

export interface OwnOutOptions {
  readonly out: HttpOut;
  readonly policy: UrlPolicy;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Returns undefined until the server answers requests. */
  readonly fetch: () => OwnFetch | undefined;
}

/** Placeholder origin; only the path of the URL counts. */
const ORIGIN = 'http://in-process';

export function createOwnOut({ out, policy, clock, deadlineMs, fetch }: OwnOutOptions): HttpOut {
  const closing = new AbortController();

  async function postHere(path: string, headers: Record<string, string>, body: string): Promise<Posted> {
    const answer = fetch();
    if (answer === undefined) return { kind: 'failed', error: 'the server does not answer yet' };
    const over = new AbortController();
    const expired = new Error(`the receiver took longer than ${deadlineMs / 1000} s`);
    const cancel = clock.after(deadlineMs, () => over.abort(expired));
    const signal = AbortSignal.any([over.signal, closing.signal]);
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    aborted.catch(() => undefined);
    const answering = answer(new Request(new URL(path, ORIGIN), { method: 'POST', headers, body, signal }));
    try {
      const reply = await Promise.race([answering, aborted]);
      const retryAfter = reply.headers.get('retry-after');
      const reading = reply.body === null ? '' : beginningOf(reply.body);
      const response = await Promise.race([reading, aborted.catch(() => '')]);
      if (signal.aborted) void reply.body?.cancel().catch(() => undefined);
      return { kind: 'answered', status: reply.status, ...(retryAfter !== null && { retryAfter }), response };
    } catch (error) {
      // Releases the body of an answer that arrives too late.
      answering.then((reply) => reply.body?.cancel()).catch(() => undefined);
      return { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
    } finally {
      cancel();
    }
  }

  const isOwn = (url: string): boolean => {
    const checked = checkWebhookUrl(url, policy);
    return checked.ok && checked.kind === 'own';
  };

  return {
    open(url) {
      if (!isOwn(url)) out.open(url);
    },
    post: (url, headers, body) => (isOwn(url) ? postHere(url, headers, body) : out.post(url, headers, body)),
    async close() {
      closing.abort(new Error('the server is stopping'));
      await out.close();
    },
  };
}
