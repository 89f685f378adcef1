/**
 * A4, L3 What was erased is gone from the disk too. `secure_delete` overwrites pages of the database, but the
 * write-ahead log keeps their earlier frames until it is rewound, which on a quiet server may be never. So soon after
 * something was erased the log is written back and cut to nothing; and at once where a crash has left one behind,
 * because what was erased right before it may be in there.
 */
import { statSync } from 'node:fs';
import type { Batch } from '../log.ts';
import type { Connection } from './connection.ts';

/** What was deleted, pruned or rolled back. */
const ERASING: ReadonlySet<string> = new Set([
  'purge-thread',
  'purge-stream',
  'forget-checkpoints',
  'keep-checkpoints',
]);

export type Later = (ms: number, fn: () => void) => () => void;

/** A log that grew beyond this is cut too. */
const LARGEST_BYTES = 67_108_864;

/** Call before the database is opened: the last one to close it properly removes the log. */
export const isLeftBehind = (file: string): boolean =>
  (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Long enough for a burst of run ends to share one pass. */
const AFTER_MS = 500;

export interface Shredder {
  /** Call with every batch that was committed. */
  note(batches: readonly Batch[]): void;
  close(): void;
}

export interface ShredderOptions {
  readonly db: Connection;
  readonly later: Later;
  /** Runs what it is given when no reader of this process is at work. */
  readonly between?: ((turn: () => void) => void) | undefined;
  /** There was a write-ahead log before the database was opened. */
  readonly leftBehind: boolean;
}

export function createShredder(options: ShredderOptions): Shredder {
  const { db, later, between = (turn) => turn(), leftBehind } = options;
  let cancel: (() => void) | undefined;
  /** Runs whose secret is on the disk; after a start every erasure may concern one. */
  const secretive = new Set<string>();
  const unsure = db.prepare('SELECT count(*) FROM secrets').pluck().get() !== 0;

  function soon(): void {
    cancel ??= later(AFTER_MS, () => between(shred));
  }

  function shred(): void {
    cancel = undefined;
    // A reader may hold on to a frame (a replay, a backup): waiting for it here would hold up the whole server.
    const patience = db.pragma('busy_timeout', { simple: true }) as number;
    db.pragma('busy_timeout = 0');
    let busy = 1;
    try {
      busy = (db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]?.busy ?? 1;
    } finally {
      db.pragma(`busy_timeout = ${patience}`);
    }
    if (busy !== 0) soon();
  }

  if (leftBehind) shred();

  return {
    note(batches) {
      // Searches that follow one another without a pause keep the log from being rewound by itself.
      if ((statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_BYTES) soon();
      for (const { payloads = [] } of batches)
        for (const write of payloads) {
          if (write.kind === 'secret') secretive.add(write.runId);
          const erases =
            ERASING.has(write.kind) ||
            (write.kind === 'erase-secret' && (secretive.delete(write.runId) || unsure));
          if (erases) soon();
        }
    },
    close() {
      // Closing the last connection writes the log back and removes it.
      cancel?.();
    },
  };
}
