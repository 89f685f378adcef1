/**
 * Replaces secrets by their stand-ins in one pass, in every form in which a text travels: as it is, in URLs, forms, JSON and
 * base64. A stand-in has the length of its secret in each form, so that chunks and lengths stay as they were.
 *
 * The pass looks at blocks of four bytes, so far apart that each occurrence of a form has one at its beginning, and compares
 * forms only where a block is one of theirs.
 */
import { base64Patterns, hasEdges, textPatterns, writeForm, type Pattern } from './secret-forms.ts';

export interface Masks {
  /** Returns the bytes themselves when they have no secret. */
  bytes(bytes: Uint8Array): Uint8Array;
  text(text: string): string;
  /** First byte and end of each secret. */
  places(bytes: Uint8Array): readonly (readonly [from: number, to: number])[];
}

const BLOCK = 4;
const TABLE_BITS = 15;

/** A pattern, and where within it a block stands. */
interface Candidate {
  readonly pattern: Pattern;
  readonly offset: number;
}

interface Table {
  /** Distance of the blocks that are looked at. */
  readonly stride: number;
  /** 1 for hashes of blocks that patterns have at offsets below the stride. */
  readonly isKnown: Uint8Array;
  /** By hash; patterns that begin earlier come first, then longer ones. */
  readonly candidates: ReadonlyMap<number, readonly Candidate[]>;
}

const hashAt = (view: DataView, at: number): number =>
  Math.imul(view.getInt32(at, true), 0x9e3779b1) >>> (32 - TABLE_BITS);

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function toTable(pairs: Iterable<readonly [secret: string, standIn: string]>): Table | undefined {
  const byForm = new Map<string, Pattern>();
  for (const [secret, standIn] of pairs)
    for (const pattern of [...textPatterns(secret, standIn), ...base64Patterns(secret, standIn)]) {
      const form = `${pattern.from.toString('latin1')} ${pattern.edges?.map(({ from }) => from)}`;
      if (!byForm.has(form)) byForm.set(form, pattern);
    }
  const patterns = [...byForm.values()].sort((a, b) => b.from.length - a.from.length);
  if (patterns.length === 0) return undefined;
  const stride = patterns.at(-1)!.from.length - BLOCK + 1;
  const isKnown = new Uint8Array(1 << TABLE_BITS);
  const candidates = new Map<number, Candidate[]>();
  for (let offset = stride - 1; offset >= 0; offset--)
    for (const pattern of patterns) {
      const { from } = pattern;
      const key = hashAt(viewOf(from), offset);
      const known = candidates.get(key);
      if (known === undefined) candidates.set(key, [{ pattern, offset }]);
      else known.push({ pattern, offset });
      isKnown[key] = 1;
    }
  return { stride, isKnown, candidates };
}

/** Returns the next place with a known block, or one behind `to`. */
function nextKnown(view: DataView, { stride, isKnown }: Table, from: number, to: number): number {
  let at = from;
  while (at <= to && isKnown[hashAt(view, at)] === 0) at += stride;
  return at;
}

/** The compiler makes good code of what is called often, rather than of what runs for long. */
const SLICE_BYTES = 256;

export function openMasks(pairs: ReadonlyMap<string, string>): Masks {
  let table: Table | undefined;
  let isBuilt = pairs.size === 0;

  function scan(bytes: Uint8Array, onFound: (pattern: Pattern, at: number) => void): void {
    // Most runs record few bodies, and some none.
    if (!isBuilt) table = toTable(pairs);
    isBuilt = true;
    if (table === undefined) return;
    const { stride, candidates } = table;
    const view = viewOf(bytes);
    const last = bytes.length - BLOCK;
    let free = 0;
    for (let at = 0; at <= last;) {
      const to = Math.min(last, at + SLICE_BYTES);
      at = nextKnown(view, table, at, to);
      if (at > to) continue;
      for (const { pattern, offset } of candidates.get(hashAt(view, at))!) {
        const start = at - offset;
        if (start < free || !isAt(pattern, bytes, start)) continue;
        onFound(pattern, start);
        free = start + pattern.from.length;
        break;
      }
      at += stride;
    }
  }

  function bytes(given: Uint8Array): Uint8Array {
    let masked: Buffer | undefined;
    scan(given, (pattern, at) => {
      masked ??= Buffer.from(given);
      writeForm(pattern, masked, at);
    });
    return masked ?? given;
  }

  return {
    bytes,
    text(text) {
      const given = Buffer.from(text);
      const masked = bytes(given);
      return masked === given ? text : (masked as Buffer).toString();
    },
    places(given) {
      const found: [number, number][] = [];
      scan(given, ({ from, edges = [] }, at) => {
        const reach = edges.length === 0 ? 0 : 1;
        found.push([at - reach, at + from.length + reach]);
      });
      return found;
    },
  };
}

export const NO_MASKS = openMasks(new Map());

function isAt(pattern: Pattern, bytes: Uint8Array, at: number): boolean {
  const { from, isNumber } = pattern;
  const { length } = from;
  if (at + length > bytes.length) return false;
  for (let index = 0; index < length; index++) if (bytes[at + index] !== from[index]) return false;
  return isNumber === true ? isWholeNumber(bytes, at, at + length) : hasEdges(pattern, bytes, at);
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const DOT = 0x2e;

/** A time in milliseconds has the digits of many numbers within it. */
const isWholeNumber = (bytes: Uint8Array, from: number, to: number): boolean =>
  !isDigit(bytes[from - 1]) &&
  !isDigit(bytes[to]) &&
  !(bytes[from - 1] === DOT && isDigit(bytes[from - 2])) &&
  !(bytes[to] === DOT && isDigit(bytes[to + 1]));
