export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for an object literal or an object without prototype, of any realm; false for class instances and arrays. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  );
}

/** The members that are not undefined. */
export const defined = (record: object): JsonObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as JsonObject;

/** Sets an own member, even for the key `__proto__`. */
export function setMember(target: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A problem in a JSON document, described for the client. */
export interface JsonProblem {
  readonly path: string;
  readonly problem: string;
}

/** Deeper input parses, but overflows the stack of `JSON.stringify` and of recursive readers. */
export const MAX_DEPTH = 128;

interface Level {
  readonly value: Json[] | JsonObject;
  /** Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  next: number;
}

/**
 * Finds the first problem that keeps parsed JSON out of the log: nesting beyond `maxDepth`, a key that changes an
 * object's prototype, a NUL or lone surrogate in a key, an infinite number, and with `checksTexts` a lone surrogate in any
 * string. Iterative, so deep input cannot overflow the stack; memory grows with depth only.
 */
export function findJsonProblem(
  root: unknown,
  { maxDepth = MAX_DEPTH, checksTexts = false }: { maxDepth?: number; checksTexts?: boolean } = {},
): JsonProblem | undefined {
  const levels: Level[] = [];
  const found = (problem: string): JsonProblem => ({ path: pathOf(levels).slice(0, 80) || 'body', problem });

  function enter(value: unknown): JsonProblem | undefined {
    if (typeof value === 'number' && !Number.isFinite(value)) return found('a number too large to be kept');
    if (checksTexts && typeof value === 'string' && !value.isWellFormed()) return found('a lone surrogate');
    if (typeof value !== 'object' || value === null) return undefined;
    if (levels.length >= maxDepth) return found(`nested deeper than ${maxDepth} levels`);
    if (Array.isArray(value)) {
      levels.push({ value: value as Json[], keys: undefined, next: 0 });
      return undefined;
    }
    const keys = Object.keys(value);
    for (const key of keys) {
      if (key === '__proto__') return found(`the key "${key}" is not allowed`);
      const text = findTextProblem(key);
      if (text !== undefined) return found(`a key holds ${text}`);
    }
    levels.push({ value: value as JsonObject, keys, next: 0 });
    return undefined;
  }

  let problem = enter(root);
  for (let top = levels.at(-1); top !== undefined && problem === undefined; top = levels.at(-1)) {
    const { value, keys, next } = top;
    const key = keys === undefined ? next : keys[next];
    if (next >= (keys ?? (value as Json[])).length) levels.pop();
    else {
      top.next += 1;
      problem = enter((value as Record<string | number, Json>)[key!]);
    }
  }
  return problem;
}
/** Describes why a string cannot be an id or key: a NUL (other stores refuse it) or a lone surrogate. */
export function findTextProblem(text: string): string | undefined {
  if (text.includes('\u0000')) return 'a NUL character';
  if (!text.isWellFormed()) return 'a lone surrogate';
  return undefined;
}

/** Canonical text of a JSON value: keys are sorted at every level, so equal values have equal texts. */
export function canonical(value: Json | undefined): string {
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (isObject(value)) {
    const parts = Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
    return `{${parts.join(',')}}`;
  }
  return JSON.stringify(value);
}

const pathOf = (levels: readonly Level[]): string =>
  levels.reduce((path, { keys, next }) => {
    if (keys === undefined) return `${path}[${next - 1}]`;
    return path === '' ? keys[next - 1]! : `${path}.${keys[next - 1]}`;
  }, '');
