/**
 * The log as a past: opened read-only, beside a running server too, with no way to write or to start anything (R1).
 * Everything is read in one transaction, so it is the same moment for every question.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DiskFailed, toOpenFailure } from '../disk.ts';
import type { Recorded } from '../events.ts';
import type { PayloadReader } from '../payloads.ts';
import type { Projection, RowReader, RowWrite } from '../rows.ts';
import { openConnection, type Connection, type SqlFunctions } from './connection.ts';
import { readAll, readStream } from './event-store.ts';
import { LOG_FILE } from './log.ts';
import { createPastViews, type PastViews } from './past-views.ts';
import { createPayloadReader } from './payload-store.ts';
import { findDifference, type RowDifference } from './row-comparison.ts';
import { createRowReader, createRowWriter } from './row-store.ts';
import { assertSchema, EVENTS } from './schema.ts';
import { createStatements } from './statements.ts';

export interface StoredSnapshot {
  readonly stream: string;
  readonly version: number;
  /** JSON text. */
  readonly state: string;
}

export interface History {
  readStream(stream: string, from: number, limit: number): Recorded[];
  readAll(after: number, limit: number): Recorded[];
  snapshots(): StoredSnapshot[];
  readonly payloads: PayloadReader;
  readonly views: PastViews;
  readonly rows: RowReader;
  /** Rows that these writes lead to. `close` frees them. */
  rowsOf(writes: readonly RowWrite[]): { readonly rows: RowReader; close(): void };
  /**
   * P2 Rebuilds every row from the log and returns the first that differs from the live one. `onEvent` hears of each
   * event in order; as soon as it returns false, the work ends and finds nothing.
   */
  firstDifference(onEvent?: (event: Recorded) => boolean): RowDifference | undefined;
  /** Number of events in the log, not of their positions: purges leave gaps. */
  eventCount(): number;
  /** What SQLite finds wrong with the structure of the file, undefined when nothing is. Reads all of it. */
  damage(): string | undefined;
  close(): void;
}

/** Throws when the directory holds no log of this program. */
export function openHistory(dir: string, projection: Projection, functions: SqlFunctions): History {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  let db: Connection | undefined;
  try {
    db = openConnection(file, { readonly: true, functions });
    assertSchema(db);
    db.exec('BEGIN');
  } catch (error) {
    db?.close();
    const failure = toOpenFailure(dir, error);
    // Nothing is to be written here.
    if (!(failure instanceof DiskFailed)) throw failure;
    throw new Error(`the log in ${dir} cannot be read: ${String(failure.cause)}`, { cause: error });
  }
  return viewHistory(db, projection, functions);
}

/** The history that a connection sees, which is its own from now on; without a transaction it moves with the log. */
export function viewHistory(db: Connection, projection: Projection, functions: SqlFunctions): History {
  const prepare = createStatements(db);

  const rows = createRowReader(prepare);
  return {
    readStream: (stream, from, limit) => readStream(prepare, stream, from, limit),
    readAll: (after, limit) => readAll(prepare, after, limit),
    snapshots: () =>
      prepare('SELECT stream, version, state FROM snapshots ORDER BY stream').all() as StoredSnapshot[],
    payloads: createPayloadReader(prepare, rows.search),
    views: createPastViews(prepare, rows),
    rows,
    rowsOf(writes) {
      const memory = openConnection(':memory:', { functions });
      // Rows say where their fact is.
      memory.exec(EVENTS + projection.ddl);
      const into = createStatements(memory);
      const writeRow = createRowWriter(into);
      for (const write of writes) writeRow(write);
      return { rows: createRowReader(into), close: () => memory.close() };
    },
    firstDifference(onEvent = () => true) {
      const memory = openConnection(':memory:', { functions });
      try {
        return findDifference(prepare, memory, projection, onEvent);
      } finally {
        memory.close();
      }
    },
    eventCount: () => prepare('SELECT count(*) FROM events').pluck().get() as number,
    damage() {
      const found = db.pragma('integrity_check(1)', { simple: true }) as string;
      return found === 'ok' ? undefined : found;
    },
    close: () => db.close(),
  };
}
