/**
 * Requests that a graph worker made, by method and address. A module may keep an answer for later runs (a token, a key set):
 * these do not ask again, but a re-execution in a fresh process does.
 */
import { createHash } from 'node:crypto';

const MAX_ASKED = 200;
/** A hash tells nothing of addresses that other users' runs asked for. */
const HASH_CHARACTERS = 11;

const asked = new Set<string>();

/** Without query and user info. */
export function hashOfAddress(method: string, url: string): string {
  const { origin, pathname } = new URL(url);
  const hash = createHash('sha256').update(`${method} ${origin}${pathname}`).digest('base64url');
  return hash.slice(0, HASH_CHARACTERS);
}

export function noteAsked(method: string, url: string): void {
  if (asked.size < MAX_ASKED && URL.canParse(url)) asked.add(hashOfAddress(method, url));
}

/** Hashes of the requests that this process made, without those of `own`. */
export const askedByOthers = (own: ReadonlySet<string>): readonly string[] =>
  [...asked].filter((hash) => !own.has(hash));
