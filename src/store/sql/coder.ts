/**
 * The one coder of stored content. With a key a text or some bytes are sealed with AES-256-GCM as the last step before
 * they go into a row, after compression and differences, and opened as the first step after they are read; without a
 * key a row has them as they are. The checksum of a row is of what the row has, so checking it needs no key.
 *
 * A4 Secrets are sealed under another label than other content, so a secret's bytes that are moved into a row which
 * clients read do not open there.
 */
import { crc32 } from 'node:zlib';
import type { Row } from '../port/rows.ts';
import { CIPHER_BYTES, createEncrypt, decrypt, type CipherKey } from '../../kernel/cipher.ts';

/** A column of content holds text, or sealed or compressed bytes. */
export type Stored = string | Uint8Array;
export type Label = 'content' | 'secret';

export interface Coder {
  /** There is no key: all is as it is stored. */
  readonly isPlain: boolean;
  seal(content: Stored, label?: Label): Stored;
  /** The columns `data` and `crc` of a row. */
  columns(content: Stored, label?: Label): { readonly data: Stored; readonly crc: number };
  /** Returns text and null as they are. Throws for bytes that were changed or sealed under another key or label. */
  open(stored: Stored, label?: Label): string;
  open(stored: Stored | null, label?: Label): string | null;
  /** Returns bytes that are not sealed as they are. */
  openBytes(stored: Uint8Array, label?: Label): Uint8Array;
}

/** A key and its number in the log. */
export interface NumberedKey {
  readonly number: number;
  readonly key: CipherKey;
}

/** Begins sealed bytes; its first byte begins no UTF-8 text and no compressed data. The key's number follows. */
const MARK = Buffer.from([0xf5, 0x52, 0x57]);
const HEAD_BYTES = MARK.length + 1;

/** CRC32 as a signed number: SQLite stores one of 32 bits in 4 bytes, an unsigned one often in 6. */
export const checksumOf = (stored: Stored): number => crc32(stored) | 0;

export const isSealed = (stored: unknown): stored is Uint8Array =>
  stored instanceof Uint8Array &&
  stored.length >= HEAD_BYTES + CIPHER_BYTES &&
  MARK.equals(stored.subarray(0, MARK.length));

/** The number of the key that sealed the bytes. */
export const keyNumberOf = (sealed: Uint8Array): number => sealed[MARK.length]!;

/** Seals under `writes` and opens under all of `keys`; without `writes` it seals nothing. */
export function createCoder(keys: readonly NumberedKey[], writes: NumberedKey | undefined): Coder {
  const byNumber = new Map(keys.map(({ number, key }) => [number, key]));
  const encrypt = createEncrypt();
  const contextOf = (head: Uint8Array, label: Label): Buffer => Buffer.concat([head, Buffer.from(label)]);

  function sealUnder({ number, key }: NumberedKey, content: Stored, label: Label): Buffer {
    const head = Buffer.from([...MARK, number]);
    return Buffer.concat([head, ...encrypt(key, content, contextOf(head, label))]);
  }

  function unseal(sealed: Uint8Array, label: Label): Buffer {
    const number = keyNumberOf(sealed);
    const key = byNumber.get(number);
    if (key === undefined) throw new Error(`content is sealed under key ${number}, which is not there`);
    try {
      return decrypt(key, sealed.subarray(HEAD_BYTES), contextOf(sealed.subarray(0, HEAD_BYTES), label));
    } catch (error) {
      throw new Error('sealed content was changed after it was written', { cause: error });
    }
  }

  const seal = (content: Stored, label: Label = 'content'): Stored =>
    writes === undefined ? content : sealUnder(writes, content, label);
  function open(stored: Stored, label?: Label): string;
  function open(stored: Stored | null, label: Label = 'content'): string | null {
    if (stored === null || typeof stored === 'string') return stored;
    if (!isSealed(stored)) throw new Error('found bytes that are not sealed, expected text');
    return unseal(stored, label).toString('utf8');
  }
  return {
    isPlain: keys.length === 0,
    seal,
    columns(content, label) {
      const data = seal(content, label);
      return { data, crc: checksumOf(data) };
    },
    open,
    openBytes: (stored, label = 'content') => (isSealed(stored) ? unseal(stored, label) : stored),
  };
}

/** The coder of a log without a key. */
export const PLAIN: Coder = createCoder([], undefined);

/** Opens the sealed cells of a row that was read. */
export const openCells =
  (coder: Coder) =>
  <R extends Row>(row: R): R =>
    coder.isPlain
      ? row
      : (Object.fromEntries(
          Object.entries(row).map(([name, cell]) => [name, isSealed(cell) ? coder.open(cell) : cell]),
        ) as R);
