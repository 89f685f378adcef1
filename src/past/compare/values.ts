/**
 * Decides what of two values is compared, and maps ids one to one. Two executions may differ in ids, times and durations:
 * the normal form of a value numbers or omits them, so that values that agree otherwise have equal forms.
 */
import { openNumbering, UUIDS } from '../../kernel/embedded-ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { joinPaths, type ValueDifference } from './difference.ts';

/** UUIDs, and the interrupt ids of the graph library: 32 hexadecimal digits. */
const ID = new RegExp(`${UUIDS.source}|\\b[0-9a-f]{32}\\b`, 'gi');
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g;
const DURATION = /(?:duration|latency|elapsed|took)(?:_?(?:ms|s|secs|seconds))?$|_ms$|Ms$/i;
/** Members that name the attempt or the program rather than what the graph did. */
const LEFT_OUT: ReadonlySet<string> = new Set(['run_attempt', 'attempt', 'langgraph_version']);

/** Milliseconds since 1970 between 2014 and 2052. */
const isEpochMs = (value: number): boolean => value > 1.4e12 && value < 2.6e12;

export interface NormalForm {
  /** JSON text with sorted keys; equal for values that agree. */
  readonly text: string;
  /** Ids in order of appearance in the text, with repetitions. */
  readonly ids: readonly string[];
}

export function normalFormOf(value: Json): NormalForm {
  const ids: string[] = [];
  const number = openNumbering(ID, (id) => ids.push(id));
  const word = (text: string): string => number(text.replace(TIME, '<time>'));
  const form = (each: Json, key: string): Json => {
    if (typeof each === 'string') return word(each);
    if (typeof each === 'number')
      return isEpochMs(each) ? '<time>' : DURATION.test(key) ? '<duration>' : each;
    if (Array.isArray(each)) return each.map((one) => form(one, key));
    if (!isObject(each)) return each;
    return Object.fromEntries(
      Object.keys(each)
        .filter((name) => !LEFT_OUT.has(name))
        .sort()
        .map((name) => [word(name), form(each[name] ?? null, name)]),
    );
  };
  return { text: JSON.stringify(form(value, '')), ids };
}

export const agree = (recorded: Json, found: Json): boolean =>
  normalFormOf(recorded).text === normalFormOf(found).text;

/** Returns the first place where two values differ. Undefined: the value is missing on that side. */
export function compareValues(
  recorded: Json | undefined,
  found: Json | undefined,
  ids?: IdMap,
): ValueDifference | undefined {
  if (recorded === undefined || found === undefined)
    return recorded === found ? undefined : { path: '', recorded, found };
  const [a, b] = [normalFormOf(recorded), normalFormOf(found)];
  if (a.text === b.text) return ids?.match(a.ids, b.ids);
  return firstDifferentMember(recorded, found) ?? { path: '', recorded, found };
}

function firstDifferentMember(recorded: Json, found: Json): ValueDifference | undefined {
  if (Array.isArray(recorded) && Array.isArray(found)) {
    for (let index = 0; index < Math.max(recorded.length, found.length); index++) {
      const difference = compareValues(recorded[index], found[index]);
      if (difference !== undefined) return { ...difference, path: joinPaths(`[${index}]`, difference.path) };
    }
  } else if (isObject(recorded) && isObject(found)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(found)])) {
      const [a, b] = [recorded[name], found[name]];
      // The name of a member decides whether its value is a duration.
      if (LEFT_OUT.has(name) || (a !== undefined && b !== undefined && agree({ [name]: a }, { [name]: b })))
        continue;
      const difference = compareValues(a, b);
      if (difference !== undefined) return { ...difference, path: joinPaths(name, difference.path) };
    }
  }
  return undefined;
}

/** One-to-one map between the ids of both executions. */
export interface IdMap {
  /** Returns the first pair that does not fit, undefined when all do. */
  match(recorded: readonly string[], found: readonly string[]): ValueDifference | undefined;
}

export function openIdMap(): IdMap {
  const forth = new Map<string, string>();
  const back = new Map<string, string>();
  return {
    match(recorded, found) {
      for (const [index, a] of recorded.entries()) {
        const b = found[index]!;
        const known = forth.get(a);
        const origin = back.get(b);
        if (known === undefined && origin === undefined) {
          forth.set(a, b);
          back.set(b, a);
        } else if (known !== b || origin !== a) return { path: '', recorded: a, found: b };
      }
      return undefined;
    },
  };
}
