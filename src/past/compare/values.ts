/**
 * What two executions of one run may differ in: ids, times and durations. The normal form of a value has them numbered
 * or left out, so that values that agree otherwise have equal forms.
 */
import { isObject, type Json } from '../../kernel/json.ts';

/** UUIDs, and the interrupt ids of the graph library: 32 hexadecimal digits. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/gi;
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
  const numbers = new Map<string, number>();
  const word = (text: string): string =>
    text.replace(TIME, '<time>').replace(ID, (id) => {
      const lower = id.toLowerCase();
      ids.push(lower);
      const number = numbers.get(lower) ?? numbers.size;
      numbers.set(lower, number);
      return `<id ${number}>`;
    });
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

export interface ValueDifference {
  /** Path within the value, such as `messages[2].content`; empty for the value itself. */
  readonly path: string;
  /** Undefined when the member is missing on this side. */
  readonly recorded: Json | undefined;
  readonly found: Json | undefined;
}

/** The first place where two values differ; undefined when their normal forms agree. */
export function firstDifference(recorded: Json, found: Json, path = ''): ValueDifference | undefined {
  if (normalFormOf(recorded).text === normalFormOf(found).text) return undefined;
  if (Array.isArray(recorded) && Array.isArray(found))
    return (
      firstOf(Math.max(recorded.length, found.length), (index) =>
        compareMembers(recorded[index], found[index], `${path}[${index}]`),
      ) ?? { path, recorded, found }
    );
  if (isObject(recorded) && isObject(found)) {
    const names = [...new Set([...Object.keys(recorded), ...Object.keys(found)])].filter(
      (name) => !LEFT_OUT.has(name),
    );
    return (
      firstOf(names.length, (index) => {
        const name = names[index]!;
        const member = path === '' ? name : `${path}.${name}`;
        const [a, b] = [recorded[name], found[name]];
        // Durations and times may differ as members of their objects only.
        if (a !== undefined && b !== undefined && sameMember(name, a, b)) return undefined;
        return compareMembers(a, b, member);
      }) ?? { path, recorded, found }
    );
  }
  return { path, recorded, found };
}

const sameMember = (name: string, a: Json, b: Json): boolean =>
  normalFormOf({ [name]: a }).text === normalFormOf({ [name]: b }).text;

function compareMembers(
  recorded: Json | undefined,
  found: Json | undefined,
  path: string,
): ValueDifference | undefined {
  if (recorded !== undefined && found !== undefined) return firstDifference(recorded, found, path);
  return recorded === found ? undefined : { path, recorded, found };
}

function firstOf<T>(count: number, at: (index: number) => T | undefined): T | undefined {
  for (let index = 0; index < count; index++) {
    const found = at(index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One-to-one map between the ids of both executions. */
export interface IdMap {
  /** Undefined when all pairs fit; otherwise the first that does not, which is left out. */
  match(
    recorded: readonly string[],
    found: readonly string[],
  ): { recorded: string; found: string } | undefined;
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
        } else if (known !== b || origin !== a) return { recorded: a, found: b };
      }
      return undefined;
    },
  };
}
