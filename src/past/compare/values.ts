/**
 * Decides what of two values is compared, and maps ids one to one. Nothing is left out by its name: the recorded clock and
 * seed make times and most ids equal. The normal form of a value numbers the ids that may differ, so that values that agree
 * otherwise have equal forms.
 */
import { openNumbering, UUIDS } from '../../kernel/embedded-ids.ts';
import { uuidTime } from '../../kernel/ids.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { joinPaths, type ValueDifference } from './difference.ts';

/** UUIDs, and the interrupt ids of the graph library: 32 hexadecimal digits. */
const ID = new RegExp(`${UUIDS.source}|\\b[0-9a-f]{32}\\b`, 'gi');
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g;

/** An execution of a run, as far as it decides which of its values may differ from those of another one. */
export interface Side {
  /** Ids in the columns of its records, in lower case: of checkpoints, tasks, namespaces and interrupts. */
  readonly ids: ReadonlySet<string>;
  /** Milliseconds since 1970. A UUID with a time between both was made by the execution. */
  readonly from: number;
  readonly until: number;
  /**
   * The executions had clocks and random values of their own: every UUID may differ, and so may every time within the
   * execution.
   */
  readonly isLoose: boolean;
}

export interface Sides {
  readonly recorded: Side;
  readonly found: Side;
  /** True for normal forms that differ only where a stand-in takes the place of a secret. */
  readonly agrees?: (recorded: string, found: string) => boolean;
}

export const areEqual = (recorded: string, found: string, { agrees }: Sides): boolean =>
  recorded === found || agrees?.(recorded, found) === true;

export interface NormalForm {
  /** JSON text with sorted keys; equal for values that agree. */
  readonly text: string;
  /** Ids in order of appearance in the text, with repetitions. */
  readonly ids: readonly string[];
}

export function normalFormOf(value: Json, { ids: own, from, until, isLoose }: Side): NormalForm {
  const ids: string[] = [];
  const isWithin = (time: number | undefined): boolean => time !== undefined && time >= from && time <= until;
  const number = openNumbering(ID, (id) => {
    const mayDiffer = own.has(id) || (id.includes('-') && (isLoose || isWithin(uuidTime(id))));
    if (mayDiffer) ids.push(id);
    return mayDiffer;
  });
  const word = (text: string): string => {
    const numbered = number(text);
    if (!isLoose) return numbered;
    return numbered.replace(TIME, (time) => (isWithin(Date.parse(time)) ? '<time>' : time));
  };
  const form = (each: Json): Json => {
    if (typeof each === 'string') return word(each);
    if (typeof each === 'number') return isLoose && isWithin(each) ? '<time>' : each;
    if (Array.isArray(each)) return each.map(form);
    if (!isObject(each)) return each;
    return Object.fromEntries(
      Object.keys(each)
        .sort()
        .map((name) => [word(name), form(each[name] ?? null)]),
    );
  };
  return { text: JSON.stringify(form(value)), ids };
}

export const agree = (recorded: Json, found: Json, sides: Sides): boolean =>
  areEqual(normalFormOf(recorded, sides.recorded).text, normalFormOf(found, sides.found).text, sides);

/** Returns the first place where two values differ. Undefined: the value is missing on that side. */
export function compareValues(
  recorded: Json | undefined,
  found: Json | undefined,
  sides: Sides,
  ids?: IdMap,
): ValueDifference | undefined {
  if (recorded === undefined || found === undefined)
    return recorded === found ? undefined : { path: '', recorded, found };
  const [a, b] = [normalFormOf(recorded, sides.recorded), normalFormOf(found, sides.found)];
  if (areEqual(a.text, b.text, sides)) return ids?.match(a.ids, b.ids);
  return firstDifferentMember(recorded, found, sides) ?? { path: '', recorded, found };
}

function firstDifferentMember(recorded: Json, found: Json, sides: Sides): ValueDifference | undefined {
  if (Array.isArray(recorded) && Array.isArray(found)) {
    for (let index = 0; index < Math.max(recorded.length, found.length); index++) {
      const difference = compareValues(recorded[index], found[index], sides);
      if (difference !== undefined) return { ...difference, path: joinPaths(`[${index}]`, difference.path) };
    }
  } else if (isObject(recorded) && isObject(found)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(found)])) {
      const difference = compareValues(recorded[name], found[name], sides);
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
