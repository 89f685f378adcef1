import { createHash, createHmac } from 'node:crypto';

/** SHA-256 in base64, the form that content security policies use. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('base64');

/** HMAC-SHA256 in base64; `key` is base64 too. */
export const hmacSha256 = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64');
