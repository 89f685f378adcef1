/**
 * `Idempotency-Key`: a client may repeat a request whose reply it did not get.
 *
 * L4 The command id of the acceptance derives from the key, so a request is accepted once. That holds for concurrent
 * repetitions and across a restart. A refusal stores nothing: the key may be used again.
 * A3 The caller's identity is part of the key: users cannot collide with each other's keys.
 */
import type { Actor } from '../../auth/authenticate.ts';
import { fingerprint } from '../../kernel/ids.ts';
import { canonical, type Json } from '../../kernel/json.ts';
import type { EventLog } from '../../store/port/log.ts';
import type { AcceptedRequest } from '../../store/port/payloads.ts';
import { invalid } from '../replies.ts';

export interface IdempotencyKey {
  /** The command id that accepts the request. */
  readonly key: string;
  /** Hash of the request. The client's key is part of it, so that an erased body cannot be guessed from it. */
  readonly digest: string;
}

/** 1 to 255 visible ASCII characters: proxies and logs do not change them. */
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/** Undefined without the header. Throws a 422 for an invalid key. `asked` is the request without its reply options. */
export function toIdempotencyKey(
  header: string | undefined,
  actor: Actor,
  asked: Json,
): IdempotencyKey | undefined {
  if (header === undefined) return undefined;
  if (!KEY_PATTERN.test(header)) throw invalid('Idempotency-Key: expected 1 to 255 visible ASCII characters');
  const own = [actor.user?.identity ?? null, header];
  return {
    key: fingerprint(JSON.stringify(own)),
    digest: fingerprint(JSON.stringify([...own, canonical(asked)])),
  };
}

/** Key of one part of a batch whose parts are accepted separately; part 0 has the key of the request. */
export const partOf = ({ key, digest }: IdempotencyKey, index: number): IdempotencyKey => ({
  key: index === 0 ? key : fingerprint(`${key} ${index}`),
  digest,
});

/** The earlier acceptance under this key. Throws a 422 when a different request used the key. */
export async function findAccepted(
  { payloads }: EventLog,
  { key, digest }: IdempotencyKey,
): Promise<AcceptedRequest | undefined> {
  const accepted = await payloads.request(key);
  if (accepted !== undefined && accepted.digest !== digest)
    throw invalid('Idempotency-Key: expected a key that no other request was sent with');
  return accepted;
}
