/**
 * P3 The one coder of texts that repeat others: values that grow, frames that show the state, checkpoints that differ in
 * ids and times, writes that become part of a value. A text is stored whole, or as its difference from base texts.
 * text-steps.ts has the form of a difference, text-assembly.ts reads it.
 *
 * Every copy begins and ends between whole characters: a difference is text that UTF-8 can carry.
 */

import { createSteps, type Steps } from './text-steps.ts';

/** What is behind as many pieces is not compared: some 2 ms. */
const MAX_PIECES = 4096;
/** Fewer units are not worth a copy. */
const SHORTEST = 4;
/** How far texts may begin to agree from where they parted, and how much it takes to notice, in UTF-16 units. */
const WINDOW = 2048;
const PROBE = 48;
const STRIDE = 32;
/** The text's own beginnings that are sought in all of the base. */
const MAX_SEARCHES = 8;
const MAX_STRETCHES = 16;

export interface Difference {
  readonly steps: string;
  /** How much of the text no base has, in UTF-16 units. */
  readonly spelled: number;
}

/** Undefined where most of the text would have to be spelled. The first base is the one that is most alike. */
export function difference(bases: readonly string[], text: string): Difference | undefined {
  const [base] = bases;
  if (base === undefined) return undefined;
  const steps = createSteps(text);
  let head = commonPrefix(base, text);
  let tail = commonSuffix(base, text, head);
  // Ids and times part in their middle: whole pieces are found elsewhere.
  const piece = head === 0 ? 0 : text.lastIndexOf('"', head - 1) + 1;
  if (head < text.length && head - piece < PROBE) head = piece;
  const end = tail === 0 ? -1 : text.indexOf('"', text.length - tail);
  if (end >= 0 && end - (text.length - tail) < PROBE) tail = text.length - end;
  const others = bases.slice(1).join('');
  const gap = base.length - tail - head;
  steps.copy(0, head);
  const left = { from: head, to: text.length - tail };
  if (left.from < left.to) {
    const rest = base.slice(head, base.length - tail) + others;
    // A place of the rest is one of the bases; copies do not reach over the cut between them.
    const copy = (at: number, length: number): void => {
      const first = Math.max(0, Math.min(length, gap - at));
      steps.copy(head + at, first);
      steps.copy(base.length + at + first - gap, length - first);
    };
    compare(
      { text, rest, own: base.length + others.length, copy, steps, spelled: new Map() },
      left.from,
      left.to,
    );
  }
  steps.copy(base.length - tail, tail);
  return steps.spelled * 2 > text.length ? undefined : { steps: steps.end(), spelled: steps.spelled };
}

interface Compared {
  readonly text: string;
  readonly rest: string;
  /** Where places of the text itself begin. */
  readonly own: number;
  readonly steps: Steps;
  copy(at: number, length: number): void;
  /** Of the pieces of the rest; of one that stands there several times, the last. */
  places?: Map<string, number>;
  /** Of pieces of the text that no base has. */
  readonly spelled: Map<string, number>;
}

/** Copies long stretches first, and what lies between them piece by piece. */
function compare(given: Compared, from: number, to: number): void {
  const { text, rest, copy } = given;
  let [at, after] = [from, 0];
  for (let found = 0; isLong(text, at, to) && found < MAX_STRETCHES; found++) {
    const stretch = findStretch(rest, after, text, at, to);
    if (stretch === undefined) break;
    comparePieces(given, at, stretch.at, after);
    copy(stretch.place, stretch.length);
    at = stretch.at + stretch.length;
    after = stretch.place + stretch.length;
  }
  comparePieces(given, at, to, after);
}

/** Longer texts are compared in stretches, and those that have no pieces. */
function isLong(text: string, at: number, to: number): boolean {
  if (to - at <= PROBE) return false;
  const quote = to - at > WINDOW ? -1 : text.indexOf('"', at);
  return quote < 0 || quote >= to;
}

/** A stretch of some length that both have, near where the text goes on. */
function findStretch(rest: string, after: number, text: string, at: number, to: number) {
  if (rest.length < PROBE) return undefined;
  const near = text.slice(at, Math.min(to, at + WINDOW));
  for (let probe = 0; probe < WINDOW; probe += STRIDE) {
    const [own, other] = [
      text.slice(at + probe, at + probe + PROBE),
      rest.slice(after + probe, after + probe + PROBE),
    ];
    if (probe < MAX_SEARCHES * STRIDE && at + probe + PROBE <= to) {
      const place = rest.indexOf(own);
      const found = place < 0 ? undefined : grow(rest, place, text, at + probe, at, to);
      if (found !== undefined) return found;
    }
    if (other.length < PROBE) continue;
    const place = near.indexOf(other);
    const found = place < 0 ? undefined : grow(rest, after + probe, text, at + place, at, to);
    if (found !== undefined) return found;
  }
  return undefined;
}

function grow(rest: string, place: number, text: string, at: number, from: number, to: number) {
  let back = 0;
  while (at - back > from && place - back > 0 && rest[place - back - 1] === text[at - back - 1]) back += 1;
  if (isLowHalf(text, at - back)) back -= 1;
  const length = commonPrefix(rest.slice(place - back), text.slice(at - back, to));
  return length < 2 * PROBE ? undefined : { place: place - back, at: at - back, length };
}

/** Both are cut behind their quotes: most pieces of JSON with other ids, times and counters stand in the other text. */
function comparePieces(given: Compared, from: number, to: number, after: number): void {
  const { text, rest, own, copy, steps, spelled } = given;
  if (from >= to) return;
  let next = after;
  for (let at = from, count = 0; at < to; count++) {
    const end = count < MAX_PIECES ? endOfPiece(text, at, to) : to;
    const piece = text.slice(at, end);
    const skipped = endOfPiece(rest, next, rest.length);
    const place = rest.startsWith(piece, next) ? next : (given.places ??= placesOf(rest)).get(piece);
    const before = place === undefined ? spelled.get(piece) : undefined;
    if (place !== undefined) {
      copy(place, piece.length);
      const following = text.slice(end, endOfPiece(text, end, to));
      const goesOn = rest.startsWith(following, skipped) || !rest.startsWith(following, place + piece.length);
      next = place === next || !goesOn ? place + piece.length : skipped;
    } else if (before !== undefined && piece.length >= SHORTEST) {
      steps.copy(own + before, piece.length);
      next = skipped;
    } else {
      const kept = commonPrefix(rest.slice(next, skipped), piece);
      if (kept >= SHORTEST) copy(next, kept);
      steps.spell(kept >= SHORTEST ? at + kept : at, end);
      spelled.set(piece, at);
      next = skipped;
    }
    at = end;
  }
}

function placesOf(text: string): Map<string, number> {
  const places = new Map<string, number>();
  for (let at = 0; at < text.length && places.size < MAX_PIECES;) {
    const end = endOfPiece(text, at, text.length);
    places.set(text.slice(at, end), at);
    at = end;
  }
  return places;
}

const endOfPiece = (text: string, at: number, to: number): number => {
  const quote = text.indexOf('"', at);
  return quote < 0 || quote >= to ? to : quote + 1;
};

/** In UTF-16 units, never between the halves of a pair. */
function commonPrefix(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let [low, high] = [0, shorter];
  // Comparing slices is far cheaper than walking the characters.
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(low, middle) === b.slice(low, middle)) low = middle;
    else high = middle - 1;
  }
  return isHighHalf(b, low - 1) ? low - 1 : low;
}

/** Behind a beginning that both have. */
function commonSuffix(a: string, b: string, head: number): number {
  let [low, high] = [0, Math.min(a.length, b.length) - head];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (a.slice(a.length - middle, a.length - low) === b.slice(b.length - middle, b.length - low))
      low = middle;
    else high = middle - 1;
  }
  return isLowHalf(b, b.length - low) ? low - 1 : low;
}

const isHighHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
const isLowHalf = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
