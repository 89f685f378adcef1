/**
 * When a caller's credentials end, as the user that `authenticate` returned says: `exp` (as in a JWT) or `expires_at`,
 * the earlier of the two.
 */
import { isObject, type Json } from '../kernel/json.ts';

/** A later time in seconds lies beyond the year 5000; in milliseconds it is a plain recent date. */
const FIRST_MILLISECONDS = 1e11;

/**
 * Milliseconds since 1970; undefined when nothing says. Numbers are seconds (or milliseconds, when they are that
 * large), texts are ISO 8601. A2 Anything else throws a `TypeError`: an end that cannot be read must not mean "never".
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
  if (typeof given === 'number' && given >= 0) return given < FIRST_MILLISECONDS ? given * 1000 : given;
  const ms = typeof given === 'string' && /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(ms))
    throw new TypeError(`the auth user: ${field} must be seconds since 1970 or an ISO 8601 time`);
  return ms;
}
