/**
 * Copies values from developer code as plain JSON, so that later mutations by the handler have no effect. A4 Errors have
 * the path, never the value.
 */
import { findJsonProblem, isPlainObject, MAX_DEPTH, type Json, type JsonObject } from '../kernel/json.ts';

/** Additional levels, because a handler's payload wraps a request body of the maximum depth. */
const MAX_WRAPPING_LEVELS = 8;

/**
 * Copies plain JSON; throws a `TypeError` that begins with `name` for anything else. An `undefined` member is dropped, as
 * in JSON, or refused: in metadata, `owner: undefined` is a bug of the handler.
 */
export function toPlain(raw: unknown, name: string, onUndefined: 'drop' | 'refuse'): Json {
  // This iterative check runs first: it refuses excessive depth, cycles and `__proto__`, so recursive copying is safe.
  const problem = findJsonProblem(raw, { maxDepth: MAX_DEPTH + MAX_WRAPPING_LEVELS });
  if (problem !== undefined) throw new TypeError(`${name}: ${problem.problem}`);
  return copy(raw, name, onUndefined);
}

function copy(value: unknown, path: string, onUndefined: 'drop' | 'refuse'): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  // `Array.from` visits holes; `map` would skip them.
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
