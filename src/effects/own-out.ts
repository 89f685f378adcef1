/**
 * Webhooks to paths of this server, which development may allow: they are requests inside the process that pass
 * everything a request from outside passes, without anybody's credentials. Everything else goes where `out` goes.
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
  /** Undefined until the server answers. */
  readonly fetch: () => OwnFetch | undefined;
}

/** Only what follows it counts. */
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
    const left = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    left.catch(() => undefined);
    const answering = answer(new Request(new URL(path, ORIGIN), { method: 'POST', headers, body, signal }));
    try {
      const reply = await Promise.race([answering, left]);
      const retryAfter = reply.headers.get('retry-after');
      const reading = reply.body === null ? '' : beginningOf(reply.body);
      const response = await Promise.race([reading, left.catch(() => '')]);
      if (signal.aborted) void reply.body?.cancel().catch(() => undefined);
      return { kind: 'answered', status: reply.status, ...(retryAfter !== null && { retryAfter }), response };
    } catch (error) {
      // Nobody will read what comes.
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
