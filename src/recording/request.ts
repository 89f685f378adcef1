/**
 * Recorded form of a request: its body decoded, its secrets masked. The digest leaves out nothing but the boundary of a
 * form, which transport draws.
 */
import { createHash } from 'node:crypto';
import { openNumbering, UUIDS } from '../kernel/embedded-ids.ts';
import { plainBody } from './bodies.ts';
import type { Masks } from './masks.ts';
import type { RecordedRequest } from './parts.ts';
import { maskUrl } from './urls.ts';

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly body: Uint8Array;
}

export function toRecordedRequest(
  { method, url, contentType, contentEncoding, body }: Request,
  masks: Masks,
): RecordedRequest {
  return {
    method,
    url: maskUrl(url, masks),
    ...(contentType !== undefined && { contentType: masks.text(contentType) }),
    ...(body.length > 0 && { body: masks.bytes(plainBody(body, contentEncoding)) }),
  };
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Boundary that the built-in `FormData` draws for each request. */
export const BOUNDARY = /-+formdata-undici-\d+/g;

/** The text with its ids numbered in order of appearance, and without times. */
export const withoutIds = (text: string): string => openNumbering(UUIDS)(text).replace(TIME, '<time>');

export const textOf = ({ method, url, body }: RecordedRequest): string =>
  `${method} ${url}\n${Buffer.from(body ?? [])
    .toString('latin1')
    .replace(BOUNDARY, '<boundary>')}`;

export const digestOf = (request: RecordedRequest): string =>
  createHash('sha256').update(textOf(request), 'utf8').digest('base64url');

/** True for requests that differ in ids and times only. */
export const agreeWithoutIds = (a: RecordedRequest, b: RecordedRequest): boolean =>
  withoutIds(textOf(a)) === withoutIds(textOf(b));
