/** Aligns two sequences: pairs as many equal members as possible, in order. */

export interface Pair {
  /** Index in the first sequence; undefined where only the second has a member. */
  readonly a: number | undefined;
  readonly b: number | undefined;
}

/** Above this product of lengths members are paired by index: the table would take too much memory. */
const MAX_TABLE_CELLS = 4_000_000;

/** Counts the equal members at both ends. */
export function commonEnds(a: readonly string[], b: readonly string[]): { head: number; tail: number } {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return { head, tail };
}

export function align(a: readonly string[], b: readonly string[]): Pair[] {
  const { head, tail } = commonEnds(a, b);
  const middleA = a.slice(head, a.length - tail);
  const middleB = b.slice(head, b.length - tail);
  const middle =
    middleA.length * middleB.length > MAX_TABLE_CELLS
      ? byIndex(middleA, middleB)
      : byContent(middleA, middleB);
  return [
    ...Array.from({ length: head }, (_, index) => ({ a: index, b: index })),
    ...middle.map((pair) => ({
      a: pair.a === undefined ? undefined : pair.a + head,
      b: pair.b === undefined ? undefined : pair.b + head,
    })),
    ...Array.from({ length: tail }, (_, index) => ({
      a: a.length - tail + index,
      b: b.length - tail + index,
    })),
  ];
}

const byIndex = (a: readonly string[], b: readonly string[]): Pair[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => ({
    a: index < a.length ? index : undefined,
    b: index < b.length ? index : undefined,
  }));

/** The longest common subsequence. */
function byContent(a: readonly string[], b: readonly string[]): Pair[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const pairs: Pair[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push({ a: i++, b: j++ });
    else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      pairs.push({ a: i++, b: undefined });
    else pairs.push({ a: undefined, b: j++ });
  }
  return pairs;
}
