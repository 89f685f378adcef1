/** Ids within texts. */

export const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Node path of a namespace: `a:1f0…|b:2e9…` becomes `a|b`. */
export const nodePathOf = (ns: string): string => ns.replace(/:[^|]+/g, '');

/** Returns a function that replaces ids by numbers, in order of appearance. `isId` gets each candidate in lower case. */
export function openNumbering(
  ids: RegExp,
  isId: (id: string) => boolean = () => true,
): (text: string) => string {
  const numbers = new Map<string, number>();
  return (text) =>
    text.replace(ids, (found) => {
      const id = found.toLowerCase();
      if (!isId(id)) return found;
      const number = numbers.get(id) ?? numbers.size;
      numbers.set(id, number);
      return `<id ${number}>`;
    });
}
