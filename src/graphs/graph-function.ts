/**
 * Classifies an exported function: a plain graph function `(state, config) => update`, or a factory
 * `(config, runtime) => graph`. Only a call tells them apart for certain, and a call has effects, so a function that may be
 * a factory is called once, in a run: if it returns a graph it is a factory, otherwise the result is that run's update.
 * Its declaration decides what it is taken for until then, and what it is called with. The rules, in this order:
 *
 * 1. Generator functions are plain.
 * 2. The first parameter decides by its name: `config`, `runnableConfig`, `options`, `runtime` or a destructured
 *    `configurable` means a factory; `state`, `input`, `values`, `messages` or a destructured `messages` means plain.
 * 3. Then the second one: `runtime` or a destructured `accessContext` or `executionRuntime` means a factory; `config`,
 *    `runnableConfig`, `options` or a destructured `configurable` means plain.
 * 4. Any other function (no parameters, other names, minified code) is undecided, and gets arguments that serve both.
 */
export type GraphFunction = (first: unknown, second?: unknown) => unknown;

export type FunctionRole = 'plain' | 'factory' | 'undecided';

const CONFIG = /^_?(?:runnable)?config$|^_?options$|^\{.*\bconfigurable\b/i;
const RUNTIME = /^_?(?:server)?runtime$|^\{.*\b(?:accessContext|executionRuntime)\b/i;
const STATE = /^_?(?:state|input|values|messages)$|^\{.*\bmessages\b/i;

export function roleOf(fn: GraphFunction): FunctionRole {
  const kind: string = Object.prototype.toString.call(fn);
  if (kind.includes('Generator')) return 'plain';
  const [first = '', second = ''] = parametersOf(fn);
  if (CONFIG.test(first) || RUNTIME.test(first)) return 'factory';
  if (STATE.test(first)) return 'plain';
  if (RUNTIME.test(second)) return 'factory';
  return CONFIG.test(second) ? 'plain' : 'undecided';
}

/** The fields of `first`, with those of `second` as non-enumerable properties, which copies of the object lack. */
export function serveBoth(first: unknown, second: unknown): object {
  const both = { ...(first as object) };
  for (const [key, value] of Object.entries(second as object))
    if (!Object.hasOwn(both, key)) Object.defineProperty(both, key, { value, enumerable: false });
  return both;
}

/** The source texts of the parameters without their defaults; empty if the source is unavailable. */
function parametersOf(fn: GraphFunction): string[] {
  const source = Function.prototype.toString.call(fn).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  const bare = /^\s*(?:async\s+)?([\w$]+)\s*=>/.exec(source);
  if (bare !== null) return [bare[1] ?? ''];
  const open = source.indexOf('(');
  if (open === -1) return [];
  const texts = [''];
  let depth = 0;
  let isDefault = false;
  for (const char of source.slice(open + 1)) {
    if (depth === 0 && char === ')') break;
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (depth === 0 && char === ',') {
      texts.push('');
      isDefault = false;
      continue;
    }
    isDefault ||= depth === 0 && char === '=';
    if (!isDefault) texts[texts.length - 1] += char;
  }
  return texts.map((text) => text.replaceAll(/\s+/g, ' ').trim());
}
