/**
 * Checks a JSON text without parsing it, so that a hostile one costs neither memory nor a long turn of the event loop. A
 * text that passes is accepted by `JSON.parse`, and its nesting and number of values are bounded.
 */

export interface ScanLimits {
  readonly maxDepth: number;
  /** A value weighs 1, a list or object 4 more, a member 1 more, and 15 where no object had it yet: what parsing costs. */
  readonly maxWeight: number;
}

const CONTAINER_WEIGHT = 4;
const MEMBER_WEIGHT = 1;
/** V8 creates a hidden class for a name that no earlier object had at that position. */
const NEW_MEMBER_WEIGHT = 16;
/** Checking a slice takes some 2 ms. */
const SLICE_UTF16_UNITS = 256 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];
const FIRST_IN_STRINGS = 0x20;

/** Numbers have bounded length: a match cannot be interrupted. */
const SCALAR = /true|false|null|-?(?:0|[1-9]\d{0,4095})(?:\.\d{1,4095})?(?:[eE][+-]?\d{1,4095})?(?![\d.eE])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Most slots of a table of object shapes: a shape that lost its slot to another counts as new again. */
const MAX_SHAPE_SLOTS = 65_536;
/** Random, so that no file is made of names with one hash. */
const HASH_SEED = Math.floor(Math.random() * 2 ** 32);

/** Of a path in a message. */
const MAX_PATH_UTF16_UNITS = 80;

export interface ScanFault {
  readonly kind: 'syntax' | 'depth' | 'weight';
  /** Says of the text what it is, as in "the text is …". */
  readonly reason: string;
  /** Names and indices that lead to the fault, of one that is too deep. */
  readonly path?: string;
}

const noJson = (at: number): ScanFault => ({ kind: 'syntax', reason: `no JSON from character ${at} on` });

/** States: the token that may come next, besides white space. `FIRST_` allows the end of a list or object as well. */
const [VALUE, FIRST_VALUE, NAME, FIRST_NAME, SEPARATOR, REST] = [0, 1, 2, 3, 4, 5];

/** Yields after each slice. Returns what is wrong with the text, undefined when nothing is. */
export function* scanJson(
  text: string,
  { maxDepth, maxWeight }: ScanLimits,
): Generator<undefined, ScanFault | undefined> {
  /** Index of a list's current entry, -1 for an object; by depth. */
  const places = new Int32Array(maxDepth + 1).fill(-1);
  /** Start and end of the name of an object's last member, by depth. */
  const names = new Int32Array(2 * (maxDepth + 1));
  /** Hash of the object's names so far, by depth. */
  const shapeOf = new Int32Array(maxDepth + 1);
  // Most texts are short, and a member has four characters or more.
  const slots = Math.min(MAX_SHAPE_SLOTS, 2 ** Math.ceil(Math.log2(text.length + 1)));
  const shapes = new Int32Array(slots);
  let depth = 0;
  let weight = 0;
  let next = VALUE;
  let sliceEnd = SLICE_UTF16_UNITS;
  for (let at = 0; ;) {
    if (at >= sliceEnd) {
      sliceEnd = at + SLICE_UTF16_UNITS;
      yield;
    }
    if (weight > maxWeight)
      return {
        kind: 'weight',
        reason: `made of more than ${maxWeight} values (lists, objects and members count as several)`,
      };
    // NaN at the end of the text.
    const unit = text.charCodeAt(at);
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
      at += 1;
      continue;
    }
    const isEnd = unit === (places[depth]! >= 0 ? CLOSE_LIST : CLOSE_OBJECT);
    if (isEnd && depth > 0 && (next === REST || next === FIRST_VALUE || next === FIRST_NAME)) {
      depth -= 1;
      next = REST;
      at += 1;
    } else if (next === REST) {
      if (depth === 0) return at === text.length ? undefined : noJson(at);
      if (unit !== COMMA) return noJson(at);
      next = places[depth]! >= 0 ? VALUE : NAME;
      if (next === VALUE) places[depth]! += 1;
      at += 1;
    } else if (next === SEPARATOR) {
      if (unit !== COLON) return noJson(at);
      next = VALUE;
      at += 1;
    } else if (unit === QUOTE) {
      let shape = shapeOf[depth]!;
      const start = at + 1;
      for (at += 1; ;) {
        if (at >= sliceEnd) {
          sliceEnd = at + SLICE_UTF16_UNITS;
          yield;
        }
        const inner = text.charCodeAt(at);
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) {
          ESCAPE.lastIndex = at;
          if (!ESCAPE.test(text)) return noJson(at);
          for (; at < ESCAPE.lastIndex; at++) shape = Math.imul(shape ^ text.charCodeAt(at), 0x01000193);
        } else if (inner >= FIRST_IN_STRINGS) at += 1;
        else return noJson(at);
        shape = Math.imul(shape ^ inner, 0x01000193);
      }
      at += 1;
      if (next === VALUE || next === FIRST_VALUE) {
        weight += 1;
        next = REST;
        continue;
      }
      shapeOf[depth] = shape = Math.imul(shape ^ QUOTE, 0x01000193);
      names[2 * depth] = start;
      names[2 * depth + 1] = at - 1;
      const slot = (shape ^ (shape >>> 15)) & (slots - 1);
      // Two slots for each shape: two that are frequent do not take each other's.
      const other = slot ^ 1;
      const isKnown = shapes[slot] === shape || shapes[other] === shape;
      weight += isKnown ? MEMBER_WEIGHT : NEW_MEMBER_WEIGHT;
      if (!isKnown) shapes[shapes[slot] === 0 ? slot : other] = shape;
      next = SEPARATOR;
    } else if (next === NAME || next === FIRST_NAME) {
      return noJson(at);
    } else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (depth === maxDepth)
        return {
          ...{ kind: 'depth', reason: `nested deeper than ${maxDepth} levels` },
          path: pathOf(text, places, names),
        };
      depth += 1;
      places[depth] = unit === OPEN_LIST ? 0 : -1;
      shapeOf[depth] = HASH_SEED;
      weight += 1 + CONTAINER_WEIGHT;
      next = unit === OPEN_LIST ? FIRST_VALUE : FIRST_NAME;
      at += 1;
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return noJson(at);
      at = SCALAR.lastIndex;
      weight += 1;
      next = REST;
    }
  }
}

/** Scans a text in one turn of the event loop. Returns its fault, undefined when it has none. */
export function findFaultIn(text: string, limits: ScanLimits): ScanFault | undefined {
  for (const scan = scanJson(text, limits); ;) {
    const { done, value } = scan.next();
    if (done === true) return value;
  }
}

/** Path of the current value as `findJsonProblem` (json.ts) formats it; escapes in names are kept. */
function pathOf(text: string, places: Int32Array, names: Int32Array): string {
  let path = '';
  for (let depth = 1; depth < places.length && path.length < MAX_PATH_UTF16_UNITS; depth++)
    if (places[depth]! >= 0) path += `[${places[depth]}]`;
    else path += `${path === '' ? '' : '.'}${text.slice(names[2 * depth], names[2 * depth + 1])}`;
  return path.slice(0, MAX_PATH_UTF16_UNITS);
}
