/** Anything that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives an object a member of its own, also when its key is `__proto__`. */
export function setMember(target: JsonObject, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A place in a JSON document that may not be stored, in words for the client. */
export interface JsonProblem {
  readonly path: string;
  readonly problem: string;
}

const POISONOUS = new Set(['__proto__', 'constructor', 'prototype']);

/** Deeper input parses but makes `JSON.stringify` and every recursive reader overflow later. */
export const MAX_DEPTH = 128;

interface Level {
  readonly value: Json[] | JsonObject;
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined;
  next: number;
}

/**
 * Finds the first thing in parsed JSON that must not enter the log: nesting beyond `MAX_DEPTH`, a key that changes
 * an object's prototype, a NUL or a lone surrogate in a key, a number that was read as infinite. Iterative, so that the
 * depth it looks for cannot hurt it; it remembers only the way to where it is, so that millions of values beside each
 * other cannot either.
 */
export function findJsonProblem(root: unknown, maxDepth = MAX_DEPTH): JsonProblem | undefined {
  const way: Level[] = [];
  const found = (problem: string): JsonProblem => ({ path: pathOf(way).slice(0, 80) || 'body', problem });

  function enter(value: unknown): JsonProblem | undefined {
    if (typeof value === 'number' && !Number.isFinite(value)) return found('a number too large to be kept');
    if (typeof value !== 'object' || value === null) return undefined;
    if (way.length >= maxDepth) return found(`nested deeper than ${maxDepth} levels`);
    if (Array.isArray(value)) {
      way.push({ value: value as Json[], keys: undefined, next: 0 });
      return undefined;
    }
    const keys = Object.keys(value);
    for (const key of keys) {
      if (POISONOUS.has(key)) return found(`the key "${key}" is not allowed`);
      const text = findTextProblem(key);
      if (text !== undefined) return found(`a key holds ${text}`);
    }
    way.push({ value: value as JsonObject, keys, next: 0 });
    return undefined;
  }

  let problem = enter(root);
  for (let top = way.at(-1); top !== undefined && problem === undefined; top = way.at(-1)) {
    const { value, keys, next } = top;
    const key = keys === undefined ? next : keys[next];
    if (next >= (keys ?? (value as Json[])).length) way.pop();
    else {
      top.next += 1;
      problem = enter((value as Record<string | number, Json>)[key!]);
    }
  }
  return problem;
}
/** Names what keeps a string from being an id or a key: NUL (refused by other stores) or a lone surrogate. */
export function findTextProblem(text: string): string | undefined {
  if (text.includes('\u0000')) return 'a NUL character';
  if (!text.isWellFormed()) return 'a lone surrogate';
  return undefined;
}

/** Stable text of a JSON value: keys sorted at every level, so that equal values have equal texts. */
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

const pathOf = (way: readonly Level[]): string =>
  way.reduce((path, { keys, next }) => {
    if (keys === undefined) return `${path}[${next - 1}]`;
    return path === '' ? keys[next - 1]! : `${path}.${keys[next - 1]}`;
  }, '');
