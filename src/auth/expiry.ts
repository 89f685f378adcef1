/**
 * Reads when a caller's credentials expire: the user's `exp` (as in a JWT) or `expires_at`, whichever is earlier.
 */
import { isObject, type Json } from '../kernel/json.ts';

/** Numbers from here on count as milliseconds: in seconds they would lie beyond the year 5000. */
const MIN_MILLISECOND_TIME = 1e11;

/**
 * The expiry in milliseconds since 1970; undefined if the user has none. Numbers are seconds, or milliseconds if large;
 * strings are ISO 8601. A2 Any other value throws a `TypeError`, because an unreadable expiry must not mean "never".
 */
export function expiryOf(user: Json): number | undefined {
  if (!isObject(user)) return undefined;
  const ends = ['exp', 'expires_at'].flatMap((field) => {
    const given = user[field];
    return given === undefined || given === null ? [] : [toMs(given, field)];
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function toMs(given: Json, field: string): number {
  if (typeof given === 'number' && given >= 0) return given < MIN_MILLISECOND_TIME ? given * 1000 : given;
  const ms = typeof given === 'string' && /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(ms))
    throw new TypeError(`the auth user: ${field} must be seconds since 1970 or an ISO 8601 time`);
  return ms;
}
