/** What two texts have in common. Every cut lies between whole characters: each part must be text that UTF-8 can carry. */

/** `kept` units of the other text, from its unit `from` on, stand in this text after the first `head` units. */
export interface Overlap {
  readonly head: number;
  readonly from: number;
  readonly kept: number;
}

/** How far from their beginnings two texts may begin to agree, and how much it takes to notice, in UTF-16 units. */
const WINDOW = 2048;
const PROBE = 48;
const STRIDE = 32;

/** In UTF-16 units, never between the halves of a pair. */
export function commonPrefix(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let [low, high] = [0, shorter];
  // Comparing slices is far cheaper than walking the characters.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return low > 0 && isHighHalf(b, low - 1) ? low - 1 : low;
}

/** The stretch that makes up at least half of `text` and begins near the beginning of both, if there is one. */
export function findOverlap(base: string, text: string): Overlap | undefined {
  const near = text.slice(0, WINDOW);
  for (let probe = 0; probe < WINDOW && probe + PROBE <= base.length; probe += STRIDE) {
    const found = near.indexOf(base.slice(probe, probe + PROBE));
    if (found < 0) continue;
    let [from, head] = [probe, found];
    while (from > 0 && head > 0 && base[from - 1] === text[head - 1]) {
      from -= 1;
      head -= 1;
    }
    if (isLowHalf(text, head)) {
      from += 1;
      head += 1;
    }
    const kept = commonPrefix(base.slice(from), text.slice(head));
    if (kept * 2 >= text.length) return { head, from, kept };
  }
  return undefined;
}

const isHighHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
const isLowHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
