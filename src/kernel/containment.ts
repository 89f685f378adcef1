import { isObject, type Json } from './json.ts';

/**
 * Tells whether `doc` contains `part` like PostgreSQL's jsonb operator `@>`. Objects match by key, scalars by
 * equality, arrays as sets: each element of `part` is contained in an element of `doc`. Own keys only.
 */
export function contains(doc: Json | undefined, part: Json): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(doc)) return false;
    // A set keeps the comparison of long lists of scalars linear.
    const plain = new Set(doc.filter(isPlain));
    return part.every((wanted) =>
      isPlain(wanted) ? plain.has(wanted) : doc.some((item) => contains(item, wanted)),
    );
  }
  if (isObject(part))
    return (
      isObject(doc) &&
      Object.entries(part).every(([key, wanted]) => Object.hasOwn(doc, key) && contains(doc[key], wanted))
    );
  return doc === part;
}

const isPlain = (value: Json): boolean => typeof value !== 'object' || value === null;
