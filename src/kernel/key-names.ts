/** A4 Finds members of a run's settings whose names say that they hold a key: `openai_api_key`, `accessToken`. */
import { isObject, type Json, type JsonObject } from './json.ts';

const KEY_NAME = /(?:^|[_-])(?:(?:api|access|private|secret)[_-]?key|token|secret|password)$/i;
const CAMEL_CASE_NAME = /(?:(?:Api|API|Access|Private|Secret)Key|Token|Secret|Password)$/;

/** Stands in records for the value of such a member. */
export const MASKED = '***';

export const isKeyName = (name: string): boolean => KEY_NAME.test(name) || CAMEL_CASE_NAME.test(name);

/** Null and booleans are no keys: they say whether there is one. */
const isKey = (name: string, value: Json): boolean =>
  value !== null && typeof value !== 'boolean' && isKeyName(name);

/** Replaces keys at any depth. */
export function maskKeys<T extends Json>(value: T, mask: (key: Json) => Json = () => MASKED): T {
  if (Array.isArray(value)) return value.map((item) => maskKeys(item, mask)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isKey(name, member) ? mask(member) : maskKeys(member, mask),
    ]),
  ) as T;
}

/** The members that are keys or contain some. Undefined when there are none. */
export function membersWithKeys(settings: Json): JsonObject | undefined {
  if (!isObject(settings)) return undefined;
  const found = Object.entries(settings).filter(([name, value]) => isKey(name, value) || containsKeys(value));
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

const containsKeys = (value: Json): boolean =>
  Array.isArray(value) ? value.some(containsKeys) : membersWithKeys(value) !== undefined;
