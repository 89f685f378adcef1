/** Standard Webhooks: the headers that prove who sent a webhook. */
import { hmacSha256 } from '../kernel/digest.ts';

/** The headers of one attempt. `id` is that of the delivery, `now` milliseconds since 1970. */
export type Sign = (id: string, now: number, body: string) => Record<string, string>;

/** `secrets` are `whsec_<base64>`. All of them sign, so that a receiver may know the old or the new one; none: no signature. */
export function createSigner(secrets: readonly string[]): Sign {
  const keys = secrets.map((secret) => secret.replace(/^whsec_/, ''));
  return (id, now, body) => {
    const timestamp = String(Math.floor(now / 1000));
    const signatures = keys.map((key) => `v1,${hmacSha256(key, `${id}.${timestamp}.${body}`)}`);
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
    };
  };
}
