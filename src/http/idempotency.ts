/**
 * Requests that a client may send again because it did not hear whether they were accepted: `Idempotency-Key`.
 *
 * L4 The key is the command id of the acceptance, so it is accepted once however often and however simultaneously it
 * comes, also across a restart. A refusal leaves nothing behind: the same key may be tried again.
 * A3 Keys are the caller's own: those of others cannot be met.
 */
import type { Actor } from '../auth/authenticate.ts';
import { fingerprint } from '../kernel/ids.ts';
import { canonical, type Json } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import type { AcceptedRequest } from '../log/payloads.ts';
import { invalid } from './replies.ts';

export interface IdempotencyKey {
  /** The command id that accepts the request. */
  readonly key: string;
  /** Of all that the request asks for. It holds the client's key, so it tells nothing of a body that was erased. */
  readonly digest: string;
}

/** What proxies and logs leave as it is. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Undefined without the header. Throws a 422 for a key that is none. `asked` is everything but the form of the reply. */
export function toIdempotencyKey(
  header: string | undefined,
  actor: Actor,
  asked: Json,
): IdempotencyKey | undefined {
  if (header === undefined) return undefined;
  if (!KEY.test(header)) throw invalid('Idempotency-Key: expected 1 to 255 visible ASCII characters');
  const own = [actor.user?.identity ?? null, header];
  return {
    key: fingerprint(JSON.stringify(own)),
    digest: fingerprint(JSON.stringify([...own, canonical(asked)])),
  };
}

/** For the parts of one request that are accepted one by one; the first one's is the request's. */
export const partOf = ({ key, digest }: IdempotencyKey, index: number): IdempotencyKey => ({
  key: index === 0 ? key : fingerprint(`${key} ${index}`),
  digest,
});

/** What the request was accepted as before. Throws a 422 when that was another request. */
export async function findAccepted(
  { payloads }: EventLog,
  { key, digest }: IdempotencyKey,
): Promise<AcceptedRequest | undefined> {
  const accepted = await payloads.request(key);
  if (accepted !== undefined && accepted.digest !== digest)
    throw invalid('Idempotency-Key: expected a key that no other request was sent with');
  return accepted;
}
