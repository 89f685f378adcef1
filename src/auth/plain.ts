/**
 * Developer code may hand over anything. What comes out of here is a fresh copy that JSON can carry, so nothing the
 * handler still holds can change it afterwards. A4: errors name the place, never the value.
 */
import { findJsonProblem, MAX_DEPTH, type Json, type JsonObject } from '../kernel/json.ts';

/** A body as deep as is allowed lies some levels deeper in the payload that a handler gets. */
const WRAPPING = 8;

/** An object literal (or one without prototype), also of another realm: no class instance, no array. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  );
}

/**
 * Copies plain JSON; throws a `TypeError` that begins with `name` for anything else. `undefined` in an object is
 * either left out, as JSON does, or refused: a stamp such as `owner: undefined` is a mistake worth hearing of.
 */
export function toPlain(raw: unknown, name: string, onUndefined: 'drop' | 'refuse'): Json {
  // First, and iterative: it bounds the depth (cycles too) and refuses `__proto__`, so the copying below is safe.
  const problem = findJsonProblem(raw, MAX_DEPTH + WRAPPING);
  if (problem !== undefined) throw new TypeError(`${name}: ${problem.problem}`);
  return copy(raw, name, onUndefined);
}

function copy(value: unknown, path: string, onUndefined: 'drop' | 'refuse'): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  // Array.from visits holes, which `map` would skip.
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, i) => copy(item, `${path}[${i}]`, onUndefined));
  if (!isPlainObject(value)) throw new TypeError(`${path} is ${kindOf(value)}, not plain JSON`);
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined || onUndefined === 'refuse')
      result[key] = copy(item, `${path}.${key}`, onUndefined);
  return result;
}

const kindOf = (value: unknown): string =>
  typeof value === 'object'
    ? 'an instance of a class'
    : typeof value === 'number'
      ? 'NaN or infinite'
      : typeof value;
