import { createHash, createHmac } from 'node:crypto';

/** SHA-256 in base64, the form that content security policies use. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('base64');

/** SHA-256 of content that comes in parts, in hexadecimal digits. */
export function openSha256(): { update(part: Uint8Array): void; hex(): string } {
  const hash = createHash('sha256');
  return { update: (part) => void hash.update(part), hex: () => hash.digest('hex') };
}

/** HMAC-SHA256 in base64; `key` is base64 too. */
export const hmacSha256 = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64');
