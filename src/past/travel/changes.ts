/** What differs between two values, place by place. */
import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../kernel/json.ts';

export type ValuePath = readonly (string | number)[];

/** `before` is undefined for what was added, `after` for what was removed. */
export interface Change {
  readonly place: ValuePath;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** Yields the changes in order; in lists the longest equal beginning and end are no change. */
export function* changesBetween(
  before: Json | undefined,
  after: Json | undefined,
  place: ValuePath = [],
): Generator<Change> {
  if (isDeepStrictEqual(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* changesBetween(ownValue(before, key), ownValue(after, key), [...place, key]);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    const shorter = Math.min(before.length, after.length);
    let head = 0;
    while (head < shorter && isDeepStrictEqual(before[head], after[head])) head += 1;
    let tail = 0;
    while (tail < shorter - head && isDeepStrictEqual(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
    for (let index = head; index < Math.max(before.length, after.length) - tail; index++)
      yield* changesBetween(
        index < before.length - tail ? before[index] : undefined,
        index < after.length - tail ? after[index] : undefined,
        [...place, index],
      );
  } else yield { place, before, after };
}

const ownValue = (value: { readonly [key: string]: Json }, key: string): Json | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined;

export const valueAt = (value: Json | undefined, place: ValuePath): Json | undefined =>
  place.reduce<Json | undefined>(
    (inner, key) =>
      Array.isArray(inner)
        ? inner[key as number]
        : isObject(inner)
          ? ownValue(inner, String(key))
          : undefined,
    value,
  );

/** A JSON Pointer (RFC 6901). */
export const pointerTo = (place: ValuePath): string =>
  place.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
