/**
 * L4 What is left to write on when the disk is full: a reserve file beside the log, which is given up then. What it
 * occupied serves deletions and vital commits only, until there is room for everything and for the reserve again.
 *
 * Danger: the reserve is counted upon only while this process knows that its blocks are there. So it is written out,
 * with bytes that no file system can compress, and never synced: its content means nothing.
 */
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../kernel/clock.ts';
import { randomBytes } from '../../../kernel/ids.ts';
import { isDiskFull } from '../../port/disk.ts';
import type { Batch } from '../../port/log.ts';

const MAX_RESERVE_BYTES = 8_388_608;
/** Of a small file system the reserve takes no more than this part. */
const SMALL_PARTS = 16;
const BLOCK_BYTES = 262_144;
/** Between two looks whether there is room again. */
const LOOK_INTERVAL_MS = 1_000;

/** What a deletion consists of. */
const FREEING: ReadonlySet<string> = new Set([
  'purge-thread',
  'purge-stream',
  'forget-checkpoints',
  'keep-checkpoints',
  'forget-frames',
  'forget-thread-frames',
  'erase-item',
  'erase-import',
]);

export interface Room {
  /** Whether only deletions and vital commits are to be tried. Asking may find that there is room again. */
  isFull(): boolean;
  /** Call when the disk took no more. False when the reserve had been given up before. */
  giveUp(): boolean;
}

export interface RoomOptions {
  readonly file: string;
  /** Hears, in words, that the disk is full and that it has room again. */
  readonly onWarning: (text: string) => void;
}

export const RESERVE_FILE = 'reserve';

const reserveOf = (file: string): string => join(dirname(file), RESERVE_FILE);

export const isTriedOnFullDisk = ({ isVital, payloads = [] }: Batch): boolean =>
  isVital === true || payloads.some(({ kind }) => FREEING.has(kind));

/** False when there was none. */
export function giveUpReserve(file: string): boolean {
  const had = statSync(reserveOf(file), { throwIfNoEntry: false }) !== undefined;
  rmSync(reserveOf(file), { force: true });
  return had;
}

export function openRoom({ file, onWarning }: RoomOptions): Room {
  const { monotonic } = systemClock();
  const dir = dirname(file);
  let full = false;
  let nextLook = 0;

  function setFull(): void {
    if (!full)
      onWarning(
        `the disk of the data directory ${dir} is full: reads and deletions go on, everything else is refused; free some space`,
      );
    full = true;
    nextLook = monotonic() + LOOK_INTERVAL_MS;
  }

  if (!ensureReserve(file)) setFull();

  return {
    isFull() {
      if (!full || monotonic() < nextLook) return full;
      nextLook = monotonic() + LOOK_INTERVAL_MS;
      full = !ensureReserve(file);
      if (!full) onWarning(`the disk of the data directory ${dir} has room again: changes are taken`);
      return full;
    },
    giveUp() {
      setFull();
      return giveUpReserve(file);
    },
  };
}

/** False when there is no room for it and as much again. */
function ensureReserve(file: string): boolean {
  const { bavail, blocks, bsize } = statfsSync(dirname(file));
  const bytes = Math.min(MAX_RESERVE_BYTES, Math.floor((blocks * bsize) / SMALL_PARTS));
  const name = reserveOf(file);
  if ((statSync(name, { throwIfNoEntry: false })?.size ?? 0) >= bytes) return true;
  if (bavail * bsize < 2 * bytes) return false;
  try {
    writeReserve(name, bytes);
    return true;
  } catch (error) {
    // A part of it would take what the log can be given. What else is wrong here, the log will meet itself.
    rmSync(name, { force: true });
    return !isDiskFull(error);
  }
}

function writeReserve(name: string, bytes: number): void {
  const fd = openSync(name, 'w', 0o600);
  try {
    const block = randomBytes(BLOCK_BYTES);
    for (let written = 0; written < bytes;)
      written += writeSync(fd, block, 0, Math.min(block.length, bytes - written));
  } finally {
    closeSync(fd);
  }
}
