/**
 * Values on their way to PostgreSQL and back, by the types that the server names. Content is `bytea`: text as UTF-8, sealed and
 * compressed bytes as they are. Bytes that are valid UTF-8 are text: sealed bytes and those of zstd never are.
 *
 * A text takes neither NUL nor half a pair of UTF-16, which names of channels and nodes may have: they are escaped. The order of
 * texts stays, but for those halves.
 */
import { isUtf8 } from 'node:buffer';
import pg from 'pg';
import type { Stored } from '../sql/coder.ts';
import { toId } from '../sql/payloads/stored-ids.ts';

type Given = Stored | number | null | readonly (Stored | number | null)[];

const OIDS = pg.types.builtins;
const TEXT_LIST = 1009;
const BYTES_LIST = 1001;
const NUMBERS: ReadonlySet<number> = new Set([
  ...[OIDS.INT2, OIDS.INT4, OIDS.INT8, OIDS.OID, OIDS.FLOAT4, OIDS.FLOAT8, OIDS.NUMERIC],
]);

const ESCAPE = '\u0001';
const UNSTORABLE = /[\0\u0001]|\p{Surrogate}/gu;
const ESCAPED = /\u0001([0-9a-f]{4})/g;

const escape = (text: string): string =>
  text.replace(UNSTORABLE, (unit) => `${ESCAPE}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const unescape = (text: string): string =>
  text.includes(ESCAPE)
    ? text.replace(ESCAPED, (_, unit: string) => String.fromCharCode(parseInt(unit, 16)))
    : text;

const toBytes = (value: Stored): Buffer =>
  typeof value === 'string'
    ? Buffer.from(value)
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength);

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

const toList = (values: readonly (Stored | number | null)[], type: number): string =>
  `{${values
    .map((value) => {
      if (value === null) return 'NULL';
      if (type === BYTES_LIST) return quote(`\\x${toBytes(value as Stored).toString('hex')}`);
      return quote(escape(String(value)));
    })
    .join()}}`;

/** As the protocol takes it: text, or a buffer for bytes. A set of texts may come as a list in JSON, an id as its 16 bytes. */
export function encode(value: Given | undefined, type: number): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return toList(value, type);
  if (type === OIDS.BYTEA) return toBytes(value as Stored);
  if (typeof value !== 'string') return value instanceof Uint8Array ? toId(value) : String(value);
  return type === TEXT_LIST ? toList(JSON.parse(value) as string[], type) : escape(value);
}

const bytesOf = (value: Given | undefined, type: number): Buffer | null => {
  const encoded = encode(value, type);
  if (encoded === null || Buffer.isBuffer(encoded)) return encoded;
  if (type !== OIDS.INT8 && type !== OIDS.INT4 && type !== OIDS.FLOAT8) return Buffer.from(encoded);
  const bytes = Buffer.alloc(type === OIDS.INT4 ? 4 : 8);
  if (type === OIDS.INT8) bytes.writeBigInt64BE(BigInt(encoded));
  else if (type === OIDS.INT4) bytes.writeInt32BE(Number(encoded));
  else bytes.writeDoubleBE(Number(encoded));
  return bytes;
};

/** An array in the form of bytes that the protocol has for it. Lists of texts are its elements as text. */
export function encodeMany(values: readonly (Given | undefined)[], type: number): Buffer {
  const element = type === TEXT_LIST ? OIDS.TEXT : type;
  const head = Buffer.alloc(20);
  for (const [at, field] of [1, 1, element, values.length, 1].entries()) head.writeInt32BE(field, at * 4);
  const parts: Buffer[] = [head];
  for (const value of values) {
    const bytes = bytesOf(value, type);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes?.length ?? -1);
    parts.push(length);
    if (bytes !== null) parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** As SQLite would give it. Returns nothing for what is read as it comes. */
export function decoderOf(type: number): (text: string) => unknown {
  if (NUMBERS.has(type)) return Number;
  if (type === OIDS.BOOL) return (text) => Number(text === 't');
  if (type === TEXT_LIST) {
    const parse = pg.types.getTypeParser(TEXT_LIST as number) as (text: string) => string[];
    return (text) => JSON.stringify(parse(text).map(unescape));
  }
  if (type !== OIDS.BYTEA) return unescape;
  return (text) => {
    const bytes = Buffer.from(text.slice(2), 'hex');
    return isUtf8(bytes) ? bytes.toString() : bytes;
  };
}
