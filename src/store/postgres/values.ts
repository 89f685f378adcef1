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

/** As SQLite would give it. */
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
