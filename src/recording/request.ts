/**
 * Recorded form of a request: secrets and query values that look like keys are masked. The digest leaves out nothing but
 * the boundary of a form, which transport draws.
 */
import { createHash } from 'node:crypto';
import { openNumbering, UUIDS } from '../kernel/embedded-ids.ts';
import type { RecordedRequest } from './parts.ts';

export const MASK = '<secret>';

const SECRET_PARAMETER = /key|token|secret|sig|password|passwd|auth|credential|code/i;

/** The URL without user info; the values of query parameters whose names look secret are masked. */
export function maskUrl(text: string): string {
  const url = new URL(text);
  url.username = url.password = '';
  for (const name of new Set(url.searchParams.keys()))
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, MASK);
  return url.href;
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string | undefined;
  readonly body: Uint8Array;
}

/** `secrets`: texts that must not be stored. */
export function toRecordedRequest(
  { method, url, contentType, body }: Request,
  secrets: readonly string[],
): RecordedRequest {
  return {
    method,
    url: maskText(maskUrl(url), secrets),
    ...(contentType !== undefined && { contentType }),
    ...(body.length > 0 && { body: maskBytes(body, secrets) }),
  };
}

/** Returns the bytes themselves when they have no secret. */
export function maskBytes(bytes: Uint8Array, secrets: readonly string[]): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!secrets.some((secret) => buffer.includes(secret))) return bytes;
  // Latin-1 keeps every byte, whatever the encoding of the rest is.
  const bytewise = (text: string): string => Buffer.from(text).toString('latin1');
  return Buffer.from(maskText(buffer.toString('latin1'), secrets.map(bytewise)), 'latin1');
}

export const maskText = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Boundary that the built-in `FormData` draws for each request. */
const BOUNDARY = /-+formdata-undici-\d+/g;

/** The text with its ids numbered in order of appearance, and without times. */
export const withoutIds = (text: string): string => openNumbering(UUIDS)(text).replace(TIME, '<time>');

const textOf = ({ method, url, body }: RecordedRequest): string =>
  `${method} ${url}\n${Buffer.from(body ?? [])
    .toString('latin1')
    .replace(BOUNDARY, '<boundary>')}`;

export const digestOf = (request: RecordedRequest): string =>
  createHash('sha256').update(textOf(request), 'utf8').digest('base64url');

/** True for requests that differ in ids and times only. */
export const agreeWithoutIds = (a: RecordedRequest, b: RecordedRequest): boolean =>
  withoutIds(textOf(a)) === withoutIds(textOf(b));
