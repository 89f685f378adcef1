import { isObject, type Json } from './json.ts';

/**
 * Whether `doc` contains `part`, as PostgreSQL's `@>` on jsonb says: objects by key, arrays as sets (each element of
 * the part is contained in some element of the document), scalars by equality. Own keys only.
 */
export function contains(doc: Json | undefined, part: Json): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(doc)) return false;
    // Long lists of plain values are looked up, not walked through for each other.
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
