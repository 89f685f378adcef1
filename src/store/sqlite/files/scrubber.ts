/**
 * A4, L3 What was erased leaves no copy behind. `secure_delete` overwrites a row where it lies, but when SQLite has
 * rearranged a page it leaves the old bytes in the page's unused middle. This goes through the file and overwrites
 * every such middle that is not zero.
 *
 * It writes beside SQLite, and that is sound for these reasons only: the bytes between a page's list of cells and its
 * cells mean nothing to any reader; the place is computed from the very bytes of the file that are there now; nothing
 * else writes to the file meanwhile, because checkpoints happen on this thread and a step here is synchronous; and
 * begun right after the write-ahead log was cut and the page cache let go, it misses no newer copy of a page.
 * Danger: the descriptor is kept until the database is closed. Closing one drops the locks of the whole process.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/** Pages that are read at once. */
const BLOCK = 64;
/** Beyond, the first byte of a page in a chain could look like that of a tree. */
const MAX_PAGES = 2 ** 25;
const FILE_HEADER = 100;
/** First byte of a page of a tree, and how long its header is. */
const HEADERS: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

export interface Scrubber {
  /** Cleans some pages from this one on (the first is 0); answers where to go on, undefined at the end. */
  step(from: number): number | undefined;
  readonly bytes: number;
  /** Only once no connection of the process has the database open. */
  close(): void;
}

export function openScrubber(file: string): Scrubber {
  const fd = openSync(file, 'r+');
  const head = Buffer.alloc(FILE_HEADER);
  readSync(fd, head, 0, FILE_HEADER, 0);
  const declared = head.readUInt16BE(16);
  const pageSize = declared === 1 ? 65_536 : declared;
  const usable = pageSize - head[20]!;
  const block = Buffer.alloc(BLOCK * pageSize);
  const nothing = Buffer.alloc(pageSize);

  /** The unused middle of a page of a tree, undefined for any other page and for what makes no sense. */
  function middleOf(page: Buffer, offset: number): { start: number; end: number } | undefined {
    const header = HEADERS[page[offset]!];
    if (header === undefined) return undefined;
    const start = offset + header + 2 * page.readUInt16BE(offset + 3);
    const end = page.readUInt16BE(offset + 5) || 65_536;
    return start < end && end <= usable ? { start, end } : undefined;
  }

  return {
    step(from) {
      if (pageSize < 512 || from >= MAX_PAGES) return undefined;
      const read = readSync(fd, block, 0, block.length, from * pageSize);
      const pages = Math.floor(read / pageSize);
      for (let at = 0; at < pages; at++) {
        const page = block.subarray(at * pageSize, (at + 1) * pageSize);
        const middle = middleOf(page, from + at === 0 ? FILE_HEADER : 0);
        if (middle === undefined) continue;
        const { start, end } = middle;
        if (page.compare(nothing, 0, end - start, start, end) !== 0)
          writeSync(fd, nothing, 0, end - start, (from + at) * pageSize + start);
      }
      return pages < BLOCK ? undefined : from + pages;
    },
    get bytes() {
      return fstatSync(fd).size;
    },
    close: () => closeSync(fd),
  };
}
