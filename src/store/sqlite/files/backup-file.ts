/**
 * The form of a backup: the log's database, page by page, and behind it one line with its length and digest. SQLite
 * ignores that line.
 */
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { openSha256 } from '../../../kernel/digest.ts';
import type { OnProgress } from '../../../kernel/progress.ts';

class BackupDamaged extends Error {
  constructor(file: string, what: string) {
    super(`${file}: ${what}; nothing was written, use another copy`);
    this.name = 'BackupDamaged';
  }
}

/** Number of the format. */
const FORMAT = 'rewound-backup 1';
const LENGTH_DIGITS = 16;
const TRAILER = new RegExp(`^${FORMAT} (\\d{${LENGTH_DIGITS}}) ([0-9a-f]{64})\n$`);
const TRAILER_BYTES = `${FORMAT} ${'0'.repeat(LENGTH_DIGITS)} ${'0'.repeat(64)}\n`.length;

const CHUNK_BYTES = 1_048_576;

export interface Sealed {
  /** Of the database, without the trailer. */
  readonly bytes: number;
  readonly sha256: string;
}

/** Appends the trailer and syncs the file. */
export function seal(file: string, onProgress: OnProgress): Sealed {
  const bytes = statSync(file).size;
  const sha256 = digestOf(file, bytes, 'computing the digest', onProgress);
  const fd = openSync(file, 'a');
  try {
    writeSync(fd, `${FORMAT} ${String(bytes).padStart(LENGTH_DIGITS, '0')} ${sha256}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return { bytes, sha256 };
}

/** Throws `BackupDamaged` for anything but a whole backup. */
export function assertWhole(file: string, onProgress: OnProgress): Sealed {
  const sealed = readTrailer(file);
  if (digestOf(file, sealed.bytes, 'checking the backup', onProgress) !== sealed.sha256)
    throw new BackupDamaged(file, 'its digest is not that of its content');
  return sealed;
}

function readTrailer(file: string): Sealed {
  const { size } = statSync(file);
  const buffer = Buffer.alloc(TRAILER_BYTES);
  const fd = openSync(file, 'r');
  const read = readSync(fd, buffer, 0, TRAILER_BYTES, Math.max(0, size - TRAILER_BYTES));
  closeSync(fd);
  const text = buffer.toString('latin1', 0, read);
  const [, length, sha256] = TRAILER.exec(text) ?? [];
  if (length === undefined || sha256 === undefined)
    throw new BackupDamaged(file, 'it is no backup of this program, or its end is missing');
  if (Number(length) !== size - TRAILER_BYTES)
    throw new BackupDamaged(file, `it has ${size - TRAILER_BYTES} bytes, ${Number(length)} were written`);
  return { bytes: Number(length), sha256 };
}

/** Copies the database into a new file and syncs it. Throws `BackupDamaged` if the content changed meanwhile. */
export function copyDatabase(
  file: string,
  to: string,
  { bytes, sha256 }: Sealed,
  onProgress: OnProgress,
): void {
  const fd = openSync(to, 'wx', 0o600);
  try {
    const copied = eachChunk(file, bytes, 'restoring', onProgress, (chunk) => {
      for (let done = 0; done < chunk.length;) done += writeSync(fd, chunk, done);
    });
    if (copied !== sha256) throw new BackupDamaged(file, 'it changed while it was read');
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

const digestOf = (file: string, bytes: number, phase: string, onProgress: OnProgress): string =>
  eachChunk(file, bytes, phase, onProgress, () => undefined);

/** Passes the first `bytes` on, and returns their digest. */
function eachChunk(
  file: string,
  bytes: number,
  phase: string,
  onProgress: OnProgress,
  use: (chunk: Uint8Array) => void,
): string {
  const digest = openSha256();
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const fd = openSync(file, 'r');
  try {
    for (let done = 0; done < bytes;) {
      const read = readSync(fd, buffer, 0, Math.min(CHUNK_BYTES, bytes - done), done);
      if (read === 0) throw new BackupDamaged(file, 'its end is missing');
      const chunk = buffer.subarray(0, read);
      digest.update(chunk);
      use(chunk);
      done += read;
      onProgress({ phase, done, total: bytes, unit: 'bytes' });
    }
    return digest.hex();
  } finally {
    closeSync(fd);
  }
}
