/** Masks bodies within their content encoding. */
import zlib from 'node:zlib';
import type { Masks } from './masks.ts';
import type { RecordedAnswer } from './parts.ts';

interface Coding {
  /** Throws a `RangeError` above `maxOutputLength` bytes. */
  decode(bytes: Uint8Array, maxOutputLength: number): Buffer;
  encode(bytes: Uint8Array): Buffer;
}

/** Decoded bodies above it are not looked into. */
const MAX_DECODED_BYTES = 256 * 1024 * 1024;

const { constants } = zlib;
/** A body that broke off is decoded as far as it came. */
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
/** The default takes seconds for a megabyte. */
const QUICK_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzip: Coding = {
  decode: (bytes, maxOutputLength) => zlib.gunzipSync(bytes, { ...ZLIB, maxOutputLength }),
  encode: (bytes) => zlib.gzipSync(bytes),
};

const CODINGS: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: {
    // Some servers leave out the header of zlib.
    decode: (bytes, maxOutputLength) =>
      ((bytes[0]! & 0x0f) === 8 ? zlib.inflateSync : zlib.inflateRawSync)(bytes, {
        ...ZLIB,
        maxOutputLength,
      }),
    encode: (bytes) => zlib.deflateSync(bytes),
  },
  br: {
    decode: (bytes, maxOutputLength) => zlib.brotliDecompressSync(bytes, { ...BROTLI, maxOutputLength }),
    encode: (bytes) => zlib.brotliCompressSync(bytes, QUICK_BROTLI),
  },
  zstd: {
    decode: (bytes, maxOutputLength) => zlib.zstdDecompressSync(bytes, { maxOutputLength }),
    encode: (bytes) => zlib.zstdCompressSync(bytes),
  },
};

const codingOf = (name: string | undefined): Coding | undefined => CODINGS[name?.trim().toLowerCase() ?? ''];

function decoded(bytes: Uint8Array, coding: Coding | undefined): Uint8Array | undefined {
  try {
    return bytes.length === 0 ? undefined : coding?.decode(bytes, MAX_DECODED_BYTES);
  } catch {
    // Not in the encoding that its header names: treated as it is.
    return undefined;
  }
}

/** The decoded body of a request: the same text may be encoded in many ways. */
export const plainBody = (bytes: Uint8Array, encoding: string | undefined): Uint8Array =>
  decoded(bytes, codingOf(encoding)) ?? bytes;

/** The decoded body; undefined when decoding makes more than `maxBytes` of it. */
export function boundedBody(
  bytes: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Uint8Array | undefined {
  const coding = codingOf(encoding);
  try {
    if (coding !== undefined && bytes.length > 0) return coding.decode(bytes, maxBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
  }
  return bytes;
}

/** Secrets may lie across chunks. An encoded body that has some is encoded anew, in as many chunks. */
export function maskedBody(
  received: readonly Uint8Array[],
  chunks: RecordedAnswer['chunks'],
  encoding: string | undefined,
  masks: Masks,
): Pick<RecordedAnswer, 'body' | 'chunks'> {
  const whole = Buffer.concat(received);
  const coding = codingOf(encoding);
  const plain = decoded(whole, coding);
  if (plain === undefined) return { body: masks.bytes(whole), chunks };
  const masked = masks.bytes(plain);
  if (masked === plain) return { body: whole, chunks };
  const body = coding!.encode(masked);
  const scale = body.length / whole.length;
  let [before, sent] = [0, 0];
  return {
    body,
    chunks: chunks.map(([at, bytes, ...step]) => {
      const from = sent;
      sent = Math.round((before += bytes) * scale);
      return [at, sent - from, ...step] as const;
    }),
  };
}
