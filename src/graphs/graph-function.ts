/**
 * Classifies an exported function: a plain graph function `(state, config) => update`, or a factory `(config) => graph`.
 * Only a call could tell them apart for certain, and a call has effects. The rules, in this order:
 *
 * 1. Generator functions, and functions that declare two or more parameters, are plain.
 * 2. The first parameter decides by its name: `config`, `runnableConfig`, `options`, `runtime` or a destructured
 *    `configurable` means a factory; `state`, `input`, `values`, `messages` or a destructured `messages` means plain.
 * 3. Any other function (no parameters, other names, minified code) is called once with the state plus the config's
 *    fields as non-enumerable properties. If it returns a graph it is a factory; otherwise the result is this run's
 *    update, so no second call is needed.
 */
export type GraphFunction = (first: unknown, config?: unknown) => unknown;

export type FunctionRole = 'plain' | 'factory' | 'undecided';

export function roleOf(fn: GraphFunction): FunctionRole {
  const kind: string = Object.prototype.toString.call(fn);
  if (kind.includes('Generator') || fn.length >= 2) return 'plain';
  const first = firstParameter(fn);
  if (/^_?(?:runnable)?config$|^_?options$|^_?runtime$|^\{.*\bconfigurable\b/i.test(first)) return 'factory';
  if (/^_?(?:state|input|values|messages)$|^\{.*\bmessages\b/i.test(first)) return 'plain';
  return 'undecided';
}

/** The argument of rule 3: the state, with the config's fields as non-enumerable properties. */
export function serveBoth(state: Record<string, unknown>, config: Record<string, unknown>): object {
  const both = { ...state };
  for (const [key, value] of Object.entries(config))
    if (!Object.hasOwn(both, key)) Object.defineProperty(both, key, { value, enumerable: false });
  return both;
}

/** The source text of the first parameter without its default; empty if there is none or the source is unavailable. */
function firstParameter(fn: GraphFunction): string {
  const source = Function.prototype.toString.call(fn).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  const bare = /^\s*(?:async\s+)?([\w$]+)\s*=>/.exec(source);
  if (bare !== null) return bare[1] ?? '';
  const open = source.indexOf('(');
  if (open === -1) return '';
  let depth = 0;
  let end = open + 1;
  for (; end < source.length; end++) {
    const char = source[end] ?? '';
    if (depth === 0 && (char === ',' || char === ')' || char === '=')) break;
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
  }
  return source
    .slice(open + 1, end)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
