/** Anything that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A place in a JSON document that may not be stored, in words for the client. */
export interface JsonProblem {
  readonly path: string;
  readonly problem: string;
}

const POISONOUS = new Set(['__proto__', 'constructor', 'prototype']);

/** Deeper input parses but makes `JSON.stringify` and every recursive reader overflow later. */
export const MAX_DEPTH = 128;

/**
 * Finds the first thing in parsed JSON that must not enter the log: nesting beyond `MAX_DEPTH`, a key that changes
 * an object's prototype, a NUL or a lone surrogate in a key. Iterative, so that the depth it looks for cannot hurt it.
 */
export function findJsonProblem(root: unknown, maxDepth = MAX_DEPTH): JsonProblem | undefined {
  const stack: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 1 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, path, depth } = top;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > maxDepth)
      return { path: path.slice(0, 80) || 'body', problem: `nested deeper than ${maxDepth} levels` };
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++)
        if (typeof value[i] === 'object' && value[i] !== null)
          stack.push({ value: value[i], path: `${path}[${i}]`, depth: depth + 1 });
      continue;
    }
    for (const key of Object.keys(value)) {
      const at = path === '' ? key : `${path}.${key}`;
      if (POISONOUS.has(key)) return { path: path || 'body', problem: `the key "${key}" is not allowed` };
      const text = findTextProblem(key);
      if (text !== undefined) return { path: path || 'body', problem: `a key holds ${text}` };
      const child = (value as Record<string, unknown>)[key];
      if (typeof child === 'object' && child !== null)
        stack.push({ value: child, path: at, depth: depth + 1 });
    }
  }
  return undefined;
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
