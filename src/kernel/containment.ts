import { isObject, type Json } from './json.ts';

/**
 * Whether `doc` contains `part`, as PostgreSQL's `@>` on jsonb says: objects by key, arrays as sets (each element of
 * the part is contained in some element of the document), scalars by equality. Own keys only.
 */
export function contains(doc: Json | undefined, part: Json): boolean {
  if (Array.isArray(part))
    return Array.isArray(doc) && part.every((wanted) => doc.some((item) => contains(item, wanted)));
  if (isObject(part))
    return (
      isObject(doc) &&
      Object.entries(part).every(([key, wanted]) => Object.hasOwn(doc, key) && contains(doc[key], wanted))
    );
  return doc === part;
}
