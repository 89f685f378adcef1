/**
 * A4, L3 What was erased is gone from the disk too. `secure_delete` overwrites pages of the database, but the
 * write-ahead log keeps their earlier frames until it is rewound, which on a quiet server may be never. So soon after
 * something was erased the log is written back and cut to nothing; and at once where a crash has left one behind,
 * because what was erased right before it may be in there. Copies in unused parts of the pages go right after that.
 */
import { statSync } from 'node:fs';
import type { Batch } from '../../port/log.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { startTurn } from '../../../kernel/turn.ts';
import type { Connection } from '../connection.ts';
import { openScrubber } from './scrubber.ts';

/** What was deleted, pruned or rolled back. */
const ERASING: ReadonlySet<string> = new Set([
  'purge-thread',
  'purge-stream',
  'forget-checkpoints',
  'keep-checkpoints',
  'erase-import',
]);

type Later = (ms: number, fn: () => void) => () => void;

/** A log that grew beyond this is cut too. */
const LARGEST_BYTES = 67_108_864;

/** Call before the database is opened: the last one to close it properly removes the log. */
export const isLeftBehind = (file: string): boolean =>
  (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** What cleaning the pages may take of the time, at most: a pause of that many times its own length comes after it. */
const PAUSES = 19;
/** What is cleaned of a file when it is closed. */
const LARGEST_AT_CLOSE = 268_435_456;

/** Long enough for a burst of run ends to share one pass. */
const AFTER_MS = 500;
/** Every end of a run with a secret, or with calls, erases some: their passes begin at least this far apart. */
const SECRETS_EVERY_MS = 30_000;
/** A disk that failed gets some time, and whoever reads of it some rest. */
const AFTER_FAULT_MS = 10_000;

export interface Shredder {
  /** Call with every batch that was committed. */
  note(batches: readonly Batch[]): void;
  /** No more passes. The returned function has to be called once the database is closed. */
  close(): () => void;
}

export interface ShredderOptions {
  readonly db: Connection;
  readonly later: Later;
  /** Milliseconds of the clock that `later` goes by. */
  readonly now: () => number;
  /** Runs what it is given when no reader of this process is at work. */
  readonly between?: ((turn: () => void) => void) | undefined;
  /** There was a write-ahead log before the database was opened. */
  readonly leftBehind: boolean;
  readonly onFault: (error: unknown) => void;
}

export function createShredder(options: ShredderOptions): Shredder {
  const { db, later, now, between = (turn) => turn(), leftBehind, onFault } = options;
  const scrubber = openScrubber(db.name);
  const { monotonic } = systemClock();
  let cancel: (() => void) | undefined;
  /** When the pass that `cancel` would cancel begins, and when the last one did. */
  let begins = 0;
  let began = -Infinity;
  let closed = false;
  let scrubbing = false;
  /** Erased since the pages were last gone through. */
  let isDue = false;
  let restUntil = -Infinity;
  let cancelScrub: (() => void) | undefined;
  /** Runs whose secret is on the disk; after a start every erasure may concern one. */
  const secretive = new Set<string>();
  const unsure = db.prepare('SELECT count(*) FROM secrets').pluck().get() !== 0;
  /** Runs whose answers are on the disk: rows that come behind all others, so that pages keep no copies of them. */
  const answered = new Set(db.prepare('SELECT DISTINCT run_id FROM resume_calls').pluck().all() as string[]);
  /** The next pass cleans the pages, too. */
  let cleansPages = leftBehind;

  function soon(ms = AFTER_MS, pages = true): void {
    cleansPages ||= pages;
    const at = now() + ms;
    if (cancel !== undefined && begins <= at) return;
    cancel?.();
    begins = at;
    cancel = later(ms, () => between(attempt));
  }

  /** A disk that fails here has lost nothing, since every commit is in the log; what was erased is still owed. */
  function attempt(): void {
    try {
      shred();
    } catch (error) {
      onFault(error);
      soon(AFTER_FAULT_MS);
    }
  }

  function shred(): void {
    cancel = undefined;
    // A reader may hold on to a frame (a replay, a backup); this connection waits for nobody.
    const busy = (db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]?.busy ?? 1;
    if (busy !== 0) return soon(AFTER_MS, false);
    began = now();
    if (!cleansPages) return;
    cleansPages = false;
    // A page in the cache still has its old middle, and would be written back with it.
    db.pragma('shrink_memory');
    isDue = true;
    scrubSoon();
  }

  /** The log is cut without regard to the pause; only going through the pages has to wait for its end. */
  function scrubSoon(): void {
    if (!isDue || scrubbing || closed || cancelScrub !== undefined) return;
    const rest = Math.ceil(restUntil - monotonic());
    if (rest <= 0)
      scrub().catch((error: unknown) => {
        scrubbing = false;
        isDue = true;
        onFault(error);
      });
    else
      cancelScrub = later(rest, () => {
        cancelScrub = undefined;
        between(attempt);
      });
  }

  async function scrub(): Promise<void> {
    scrubbing = true;
    isDue = false;
    const started = monotonic();
    const turn = startTurn();
    let page: number | undefined = 0;
    while (page !== undefined && !closed) {
      page = scrubber.step(page);
      await turn();
    }
    if (closed) return;
    scrubbing = false;
    restUntil = monotonic() + (monotonic() - started) * PAUSES;
    scrubSoon();
  }

  if (leftBehind) shred();

  return {
    note(batches) {
      // Searches that follow one another without a pause keep the log from being rewound by itself.
      if ((statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_BYTES) soon();
      for (const { payloads = [] } of batches)
        for (const write of payloads) {
          if (write.kind === 'secret') secretive.add(write.runId);
          if (ERASING.has(write.kind)) soon();
          const erasesSecret =
            write.kind === 'erase-cron-secret' ||
            (write.kind === 'erase-secret' && (secretive.delete(write.runId) || unsure));
          if (write.kind === 'resume') answered.add(write.runId);
          const erasesAnswers =
            write.kind === 'erase-resume' && write.base === undefined && answered.delete(write.runId);
          if (erasesSecret || erasesAnswers)
            soon(Math.max(AFTER_MS, began + SECRETS_EVERY_MS - now()), erasesSecret);
        }
    },
    close() {
      // A second close of a descriptor could hit somebody else's that got its number.
      if (closed) return () => undefined;
      closed = true;
      // Closing the last connection writes the log back and removes it.
      cancel?.();
      cancelScrub?.();
      return () => {
        const isUnclean = cancel !== undefined || scrubbing || isDue;
        if (isUnclean && scrubber.bytes <= LARGEST_AT_CLOSE)
          for (let page = scrubber.step(0); page !== undefined; page = scrubber.step(page));
        scrubber.close();
      };
    },
  };
}
