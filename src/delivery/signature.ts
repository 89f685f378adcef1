/** Signs webhooks with the headers of Standard Webhooks. */
import { hmacSha256 } from '../kernel/digest.ts';

/** Returns the headers of one attempt. `id`: the delivery's id. `now`: milliseconds since 1970. */
export type Sign = (id: string, now: number, body: string) => Record<string, string>;

/** `secrets`: `whsec_<base64>`. Each adds a signature, which allows key rotation; none means no signature. */
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
