/**
 * The file around the records: a line that names the format, the records as one zstd stream, and a last line with the
 * SHA-256 of all bytes before it. So each flipped bit and each missing byte is found before a record is read.
 */
import { open, stat, type FileHandle } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress, zstdDecompressSync } from 'node:zlib';
import { openSha256 } from '../kernel/digest.ts';
import { PRODUCT } from '../kernel/product.ts';
import type { Scope } from './limits.ts';
import { ExportRefused, NoFile } from './refusal.ts';

const MAGIC = `${PRODUCT}-export `;
const FIRST_LINE = new RegExp(`^${MAGIC}([1-9]\\d{0,5})( log)?\\n`);
const MAX_FIRST_LINE_BYTES = 64;
const LAST_LINE = /^\nsha256 ([0-9a-f]{64})\n$/;
const LAST_LINE_BYTES = 73;
const CHUNK_BYTES = 256 * 1024;
/** 8 MiB: texts of a thread repeat those of the steps before. */
const WINDOW_LOG = 23;

const lastLine = (digest: string): string => `\nsha256 ${digest}\n`;

/** Node ends a stream whose last write ended its frame with an empty one. */
const EMPTY_FRAME_BYTES = 9;
/** A larger window would be allocated as the file says. */
const UNPACKING = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG };

/** The bytes of the file. */
export async function* toContainer(
  format: number,
  records: AsyncIterable<Buffer>,
  scope: Scope = 'thread',
): AsyncGenerator<Buffer> {
  const hash = openSha256();
  const first = Buffer.from(`${MAGIC}${format}${scope === 'log' ? ' log' : ''}\n`);
  hash.update(first);
  yield first;
  const params = {
    [constants.ZSTD_c_compressionLevel]: 3,
    [constants.ZSTD_c_windowLog]: WINDOW_LOG,
  };
  const compressed = createZstdCompress({ params, chunkSize: CHUNK_BYTES });
  // An error of either side ends the loop below.
  pipeline(Readable.from(records, { objectMode: true }), compressed, () => undefined);
  for await (const chunk of compressed as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
  yield Buffer.from(lastLine(hash.hex()));
}

/** A file whose digest is right. */
export interface Container {
  readonly format: number;
  readonly scope: Scope;
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly fileBytes: number;
  /** The records' bytes, from the beginning. Throws `ExportRefused` beyond `maxBytes` of them. */
  content(): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

export interface ContainerOptions {
  /** Name of the file in messages; its path by default. */
  readonly name?: string;
  /** Limit of the unpacked records. */
  readonly maxBytes?: number;
}

/** Reads all of the file once. Throws `NoFile`, and `ExportRefused` when it is foreign or damaged. */
export async function openContainer(path: string, options: ContainerOptions = {}): Promise<Container> {
  const { name = path, maxBytes = Infinity } = options;
  const file = await openFile(path, name);
  try {
    const { size } = await file.stat();
    const { format, scope, length: begin } = await readFirstLine(file, name);
    const end = size - LAST_LINE_BYTES;
    const last = end < begin ? '' : (await readAt(file, end, LAST_LINE_BYTES)).toString('latin1');
    const digest = LAST_LINE.exec(last)?.[1];
    if (digest === undefined)
      throw new ExportRefused(`${name} is cut off or damaged: its last line is not its SHA-256`);
    const hash = openSha256();
    for await (const chunk of bytesOf(file, 0, end)) hash.update(chunk);
    if (hash.hex() !== digest)
      throw new ExportRefused(`${name} is damaged: its SHA-256 is not the one in its last line`);

    async function* content(): AsyncGenerator<Buffer> {
      const unpacked = createZstdDecompress({ chunkSize: CHUNK_BYTES, params: UNPACKING });
      pipeline(Readable.from(bytesOf(file, begin, end)), unpacked, () => undefined);
      let bytes = 0;
      try {
        for await (const chunk of unpacked as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > maxBytes)
            throw new ExportRefused(`${name} is larger than ${maxBytes} bytes when it is unpacked`);
          yield chunk;
        }
      } catch (error) {
        if (error instanceof ExportRefused) throw error;
        throw new ExportRefused(`${name} is damaged: ${(error as Error).message}`);
      }
      // The stream ends with its first frame, whatever follows.
      const rest = end - begin - unpacked.bytesWritten;
      if (rest > 0 && !(rest === EMPTY_FRAME_BYTES && isEmptyFrame(await readAt(file, end - rest, rest))))
        throw new ExportRefused(`${name} is not valid: ${rest} bytes follow the end of its records`);
    }

    return {
      ...{ format, scope, digest, fileBytes: size, content },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface FirstLine {
  readonly format: number;
  readonly scope: Scope;
  readonly length: number;
}

async function readFirstLine(file: FileHandle, name: string): Promise<FirstLine> {
  const first = await readAt(file, 0, MAX_FIRST_LINE_BYTES);
  const found = FIRST_LINE.exec(first.toString('latin1'));
  if (found === null)
    throw new ExportRefused(`${name} is not an exported thread or log: its first line is not "${MAGIC}1"`);
  return {
    format: Number(found[1]),
    scope: found[2] === undefined ? 'thread' : 'log',
    length: found[0].length,
  };
}

/** Reads from the first line of a file whether it holds a thread or a log. */
export async function scopeOf(path: string): Promise<Scope> {
  const file = await openFile(path, path);
  try {
    return (await readFirstLine(file, path)).scope;
  } finally {
    await file.close();
  }
}

function isEmptyFrame(bytes: Buffer): boolean {
  try {
    return zstdDecompressSync(bytes).length === 0;
  } catch {
    return false;
  }
}

async function openFile(path: string, name: string): Promise<FileHandle> {
  try {
    // Opening a named pipe would wait for its other end.
    if ((await stat(path)).isFile()) return await open(path, 'r');
  } catch (error) {
    throw new NoFile(`${name} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
  throw new NoFile(`${name} is a folder or a device: expected an exported thread or log`);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function* bytesOf(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    const chunk = await readAt(file, at, Math.min(CHUNK_BYTES, to - at));
    if (chunk.length === 0) return;
    at += chunk.length;
    yield chunk;
  }
}
