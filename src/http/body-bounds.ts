/**
 * How much a large body may hold, found out from its bytes: to make values of them takes the server's thread a hundred
 * times as long, and whatever keeps and answers them as long again. Small bodies cannot hold enough to matter.
 *
 * What makes a value dear is not its length. A number or a text is cheap; a list or an object is a thing of its own; and an
 * object with members that none had before makes V8 describe a new kind of object with each of them.
 */
import { MAX_DEPTH } from '../kernel/json.ts';
import { invalid, tooManyValues } from './replies.ts';

/** Up to here nothing is looked at, in bytes. */
const SMALL = 65_536;

/**
 * About a quarter of a second of the server's thread, from the bytes to the commit and the answer; what long numbers take
 * beyond that goes with their bytes.
 */
export const MAX_VALUES = 500_000;
/** What comes on top of the one that every value counts. */
const LIST_OR_OBJECT = 4;
const MEMBER = 1;
const NEW_MEMBER = 15;

/** Room for kinds of objects, a power of two: twice as many as there can be. */
const KINDS = 65_536;
/** Who makes names fall into one place gains nothing: a kind that was forgotten is new again. */
const MAX_TRIES = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/**
 * Throws a 413 for more values, and a 422 for deeper ones, than the server can take. What is no JSON is left to whoever
 * parses: up to the first mistake it is counted like JSON.
 */
export function checkBounds(bytes: Uint8Array): void {
  if (bytes.length <= SMALL) return;
  const { length } = bytes;
  const kinds = rememberKinds(bytes);
  /** By depth: the entry that a list is at, -1 for an object. */
  const places = new Int32Array(MAX_DEPTH + 1);
  /** By depth: what an object has had so far, and from where to where the name of its last member goes. */
  const kindOf = new Int32Array(MAX_DEPTH + 1);
  const names = new Int32Array(2 * (MAX_DEPTH + 1));
  let depth = 0;
  let count = 1;
  let textAt = 0;
  let textEnd = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      textAt = ++i;
      for (; i < length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
      textEnd = i;
    } else if (byte === COMMA) {
      count += 1;
      if (places[depth]! >= 0) places[depth]! += 1;
    } else if (byte === COLON) {
      const before = kinds.count();
      names[2 * depth] = textAt;
      names[2 * depth + 1] = textEnd;
      kindOf[depth] = kinds.with(kindOf[depth]!, textAt, textEnd);
      count += kinds.count() === before ? MEMBER : NEW_MEMBER;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth === MAX_DEPTH)
        throw invalid(`${pathOf(bytes, places, names)}: nested deeper than ${MAX_DEPTH} levels`);
      depth += 1;
      places[depth] = byte === OPEN_LIST ? 0 : -1;
      kindOf[depth] = 0;
      count += LIST_OR_OBJECT;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth > 0) depth -= 1;
    } else continue;
    if (count > MAX_VALUES) throw tooManyValues(MAX_VALUES);
  }
}

/**
 * Numbers kinds of objects: by the members so far, in their order. Names are compared byte by byte, so that none can be
 * made to look like another.
 */
function rememberKinds(bytes: Uint8Array) {
  const found = new Int32Array(KINDS);
  const from = new Int32Array(KINDS);
  const nameAt = new Int32Array(KINDS);
  const nameLength = new Int32Array(KINDS);
  let last = 0;

  const isAt = (place: number, kind: number, at: number, length: number): boolean => {
    if (from[place] !== kind || nameLength[place] !== length) return false;
    const other = nameAt[place]!;
    for (let i = 0; i < length; i++) if (bytes[other + i] !== bytes[at + i]) return false;
    return true;
  };

  return {
    count: () => last,
    /** What an object of this kind is with one more member. */
    with(kind: number, at: number, end: number): number {
      let hash = kind;
      for (let i = at; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
      let place = (hash ^ (hash >>> 15)) & (KINDS - 1);
      for (let tries = 1; found[place] !== 0; tries++) {
        if (isAt(place, kind, at, end - at)) return found[place]!;
        if (tries === MAX_TRIES) break;
        place = (place + 1) & (KINDS - 1);
      }
      last += 1;
      found[place] = last;
      from[place] = kind;
      nameAt[place] = at;
      nameLength[place] = end - at;
      return last;
    },
  };
}

/** In the words of `findJsonProblem`; names stand as they are written. */
function pathOf(bytes: Uint8Array, places: Int32Array, names: Int32Array): string {
  const decoder = new TextDecoder();
  let path = '';
  for (let depth = 1; depth <= MAX_DEPTH && path.length < 80; depth++) {
    const [from = 0, to = 0] = names.subarray(2 * depth);
    if (places[depth]! >= 0) path += `[${places[depth]}]`;
    else path += `${path === '' ? '' : '.'}${decoder.decode(bytes.subarray(from, Math.min(to, from + 320)))}`;
  }
  return path.slice(0, 80);
}
