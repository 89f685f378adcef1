/**
 * Limits the number of JSON values in a large body by scanning its bytes: parsing takes about a hundred times as long as
 * the scan, and storing and serializing the values as long again. Small bodies cannot hold enough values to matter.
 *
 * The cost of a value depends on its kind, not on its length. Numbers and strings are cheap; arrays and objects are
 * allocated. A member name that no earlier object had at that position makes V8 create a hidden class.
 */
import { MAX_DEPTH } from '../kernel/json.ts';
import { invalid, tooManyValues } from './replies.ts';

/** Bodies up to this size are not scanned. */
const MAX_UNSCANNED_BYTES = 65_536;

/**
 * Maximum weighted count of values in a body: about 250 ms of the main thread from the bytes to commit and reply. Long
 * numbers take more, in proportion to their bytes.
 */
export const MAX_VALUES = 500_000;
/** Weights that are added to the 1 that every value counts. */
const CONTAINER_WEIGHT = 4;
const MEMBER_WEIGHT = 1;
const NEW_MEMBER_WEIGHT = 15;

/** Slots of the hash table of object shapes: a power of two, twice the largest possible number of shapes. */
const TABLE_SLOTS = 65_536;
/** Maximum probes per look-up. Deliberate hash collisions gain nothing: a shape that is not found counts as new. */
const MAX_PROBES = 16;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/**
 * Throws a 413 for more than `MAX_VALUES` and a 422 for nesting deeper than `MAX_DEPTH`. Invalid JSON is counted up to
 * its first mistake and passes; the parser reports it.
 */
export function checkBounds(bytes: Uint8Array): void {
  if (bytes.length <= MAX_UNSCANNED_BYTES) return;
  const { length } = bytes;
  const kinds = rememberKinds(bytes);
  /** Index of a list's current entry, -1 for an object; by depth. */
  const positions = new Int32Array(MAX_DEPTH + 1);
  /** Number of an object's shape so far, by depth. `names` holds start and end offset of its last member's name. */
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
      if (positions[depth]! >= 0) positions[depth]! += 1;
    } else if (byte === COLON) {
      const before = kinds.count();
      names[2 * depth] = textAt;
      names[2 * depth + 1] = textEnd;
      kindOf[depth] = kinds.with(kindOf[depth]!, textAt, textEnd);
      count += kinds.count() === before ? MEMBER_WEIGHT : NEW_MEMBER_WEIGHT;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth === MAX_DEPTH)
        throw invalid(`${pathOf(bytes, positions, names)}: nested deeper than ${MAX_DEPTH} levels`);
      depth += 1;
      positions[depth] = byte === OPEN_LIST ? 0 : -1;
      kindOf[depth] = 0;
      count += CONTAINER_WEIGHT;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth > 0) depth -= 1;
    } else continue;
    if (count > MAX_VALUES) throw tooManyValues(MAX_VALUES);
  }
}

/**
 * Numbers object shapes (the member names so far, in order) in an open-addressing hash table. Names are compared byte by
 * byte, so that a hash collision cannot pass one name off as another.
 */
function rememberKinds(bytes: Uint8Array) {
  const found = new Int32Array(TABLE_SLOTS);
  const from = new Int32Array(TABLE_SLOTS);
  const nameAt = new Int32Array(TABLE_SLOTS);
  const nameLength = new Int32Array(TABLE_SLOTS);
  let last = 0;

  const isAt = (place: number, kind: number, at: number, length: number): boolean => {
    if (from[place] !== kind || nameLength[place] !== length) return false;
    const other = nameAt[place]!;
    for (let i = 0; i < length; i++) if (bytes[other + i] !== bytes[at + i]) return false;
    return true;
  };

  return {
    count: () => last,
    /** The number of the shape that `kind` becomes with one more member, whose name is at `at` to `end`. */
    with(kind: number, at: number, end: number): number {
      let hash = kind;
      for (let i = at; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
      let place = (hash ^ (hash >>> 15)) & (TABLE_SLOTS - 1);
      for (let tries = 1; found[place] !== 0; tries++) {
        if (isAt(place, kind, at, end - at)) return found[place]!;
        if (tries === MAX_PROBES) break;
        place = (place + 1) & (TABLE_SLOTS - 1);
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

/** Path of the current value as `findJsonProblem` formats it, at most 80 characters; escapes in names are kept. */
function pathOf(bytes: Uint8Array, positions: Int32Array, names: Int32Array): string {
  const decoder = new TextDecoder();
  let path = '';
  for (let depth = 1; depth <= MAX_DEPTH && path.length < 80; depth++) {
    const [from = 0, to = 0] = names.subarray(2 * depth);
    if (positions[depth]! >= 0) path += `[${positions[depth]}]`;
    else path += `${path === '' ? '' : '.'}${decoder.decode(bytes.subarray(from, Math.min(to, from + 320)))}`;
  }
  return path.slice(0, 80);
}
