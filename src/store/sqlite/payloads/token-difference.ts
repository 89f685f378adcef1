/**
 * A text as what differs from another one of the same make: JSON with other ids, times and counters in it. Both are
 * cut at their quotes; most pieces stand in the other text, in the same order.
 *
 * A difference is a row of steps. Each begins with a number, four times its argument plus its kind: 0 takes that many
 * pieces of the base in a row; 1 takes the piece of that number in place of the next one; 2 takes it and goes on
 * behind it; 3 has so many characters of its own, after as many of the base's next piece as the number after it says.
 * Numbers of pieces count through the base, the names, and what had characters of its own.
 */
export interface Base {
  readonly pieces: readonly string[];
  /** Of a piece that stands there several times, the last. */
  readonly places: ReadonlyMap<string, number>;
}

const TAKE = 0;
const REPLACE = 1;
const JUMP = 2;
const SPELL = 3;

export function toBase(text: string): Base {
  const pieces = text.split('"');
  return { pieces, places: new Map(pieces.map((piece, index) => [piece, index])) };
}

/** `names`: what the reader will know, too. */
export function toDifference(text: string, base: Base, names: readonly string[]): string {
  const { pieces, places } = base;
  const own = new Map(names.map((name, index) => [name, pieces.length + index]));
  let count = pieces.length + names.length;
  const wanted = text.split('"');
  const agrees = (at: number, next: number): boolean =>
    wanted[at] === pieces[next] && wanted[at + 1] === pieces[next + 1];
  let difference = '';
  let next = 0;
  for (let at = 0; at < wanted.length;) {
    const from = at;
    while (at < wanted.length && wanted[at] === pieces[next]) {
      at += 1;
      next += 1;
    }
    if (at > from) {
      difference += numeral((at - from) * 4 + TAKE);
      continue;
    }
    const piece = wanted[at]!;
    const place = own.get(piece) ?? places.get(piece);
    if (place === undefined) {
      const kept = commonStart(pieces[next] ?? '', piece);
      difference += numeral((piece.length - kept) * 4 + SPELL) + numeral(kept) + piece.slice(kept);
      own.set(piece, count++);
      next += 1;
    } else if (!agrees(at + 1, next + 1) && agrees(at + 1, place + 1)) {
      difference += numeral(place * 4 + JUMP);
      next = place + 1;
    } else {
      difference += numeral(place * 4 + REPLACE);
      next += 1;
    }
    at += 1;
  }
  return difference;
}

export function fromDifference(
  difference: string,
  { pieces }: Pick<Base, 'pieces'>,
  names: readonly string[],
): string {
  const known = [...pieces, ...names];
  const text: string[] = [];
  let [at, next] = [0, 0];
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= MORE) {
      const digit = difference.charCodeAt(at++) - FIRST;
      if (digit < LAST_DIGITS) return value + digit * scale;
      value += (digit - LAST_DIGITS) * scale;
    }
  };
  while (at < difference.length) {
    const step = number();
    const [argument, kind] = [Math.floor(step / 4), step % 4];
    if (kind === TAKE) {
      for (const end = next + argument; next < end; next++) text.push(pieces[next] ?? '');
      continue;
    }
    if (kind === SPELL) {
      const kept = number();
      const piece = (pieces[next] ?? '').slice(0, kept) + difference.slice(at, at + argument);
      at += argument;
      known.push(piece);
      text.push(piece);
    } else text.push(known[argument] ?? '');
    next = kind === JUMP ? argument + 1 : next + 1;
  }
  return text.join('"');
}

/** A number ends with one of 64 characters; before it stand its lower digits, of 32. All are of one byte. */
const FIRST = 32;
const LAST_DIGITS = 64;
const MORE = 32;

function numeral(value: number): string {
  let text = '';
  let rest = value;
  for (; rest >= LAST_DIGITS; rest = Math.floor(rest / MORE))
    text += String.fromCharCode(FIRST + LAST_DIGITS + (rest % MORE));
  return text + String.fromCharCode(FIRST + rest);
}

/** Never between the halves of a pair: what is left must be text that UTF-8 can carry. */
function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length > 0 && (b.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length;
}
