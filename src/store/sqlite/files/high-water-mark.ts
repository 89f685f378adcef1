/**
 * How far the log had come, kept beside it: a write-ahead log that is gone, cut or damaged takes commits with it that
 * somebody was told of, and SQLite alone does not miss them.
 *
 * The mark is written after the sync of the commit that it names and never synced itself, so it may be too low, which
 * proves nothing, and never too high. Positions are never given twice nor taken back. A clean end removes it: what then
 * lies there may be replaced by a copy.
 */
import { closeSync, constants, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { Database } from '../library.ts';

class LogIncomplete extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'LogIncomplete';
  }
}

export interface HeadMark {
  /** Call when the commit that gave this position is durable. */
  note(position: number): void;
  /** Call while the file is still open: a mark without its write-ahead log would be looked at by nobody. */
  remove(): void;
}

const markOf = (file: string): string => `${file}-head`;
const DIGITS = 16;
/** Twice the same: one that was torn or damaged says nothing. */
const MARK = /^(\d{16}) \1\n$/;

/** Throws `LogIncomplete` when a part of the log is missing. Call before it is opened, which would destroy what is left. */
export function assertComplete(file: string): void {
  const wal = `${file}-wal`;
  // SQLite syncs the first page of a new file before it writes the first byte beside it.
  if (sizeOf(file) === 0 && sizeOf(wal) > 0)
    throw new LogIncomplete(
      `${file} is missing or empty, and ${wal} beside it holds commits that belong to it; ` +
        `put ${file} back, or move ${wal} away to begin with an empty log`,
    );
  const marked = readMark(file);
  if (marked === undefined) return;
  const head = headOf(file);
  if (head === undefined || head >= marked) return;
  throw new LogIncomplete(
    `${endsBefore(file, head, marked)}: ${wal} is missing, damaged or of another time, or ${file} is. ` +
      `Put back the files that belong together; to go on without what is lost, or from a backup, remove ${markOf(file)}`,
  );
}

export const endsBefore = (file: string, head: number, marked: number): string =>
  `${file} ends at position ${head}, and ${markOf(file)} says that position ${marked} was reached`;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** The position that the log of this file had reached; undefined when it is not known. */
export function readMark(file: string): number | undefined {
  try {
    const found = MARK.exec(readFileSync(markOf(file), 'latin1'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}

/** Undefined when it cannot be told: whoever opens the file says what is the matter with it. */
function headOf(file: string): number | undefined {
  if (sizeOf(file) === 0) return 0;
  let db: Database | undefined;
  try {
    // Read-only: the last one to close it would otherwise write back and remove what is still there.
    db = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
    const found = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'events'").get();
    if (found === undefined) return 0;
    return db.prepare('SELECT coalesce(max(position), 0) FROM events').pluck().get() as number;
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** Nothing rests on it but the check at the next start, so what the disk refuses here is let go. */
export function openHeadMark(file: string): HeadMark {
  const name = markOf(file);
  let fd = attempt(() => openSync(name, constants.O_RDWR | constants.O_CREAT, 0o600));
  let noted = 0;

  function close(): void {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  }

  return {
    note(position) {
      if (fd === undefined || position <= noted) return;
      noted = position;
      const digits = String(position).padStart(DIGITS, '0');
      const open = fd;
      if (attempt(() => writeSync(open, `${digits} ${digits}\n`, 0, 'latin1')) === undefined) close();
    },
    remove() {
      close();
      attempt(() => rmSync(name, { force: true }));
    },
  };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
