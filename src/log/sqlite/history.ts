/**
 * The log as a past: opened read-only, beside a running server too, with no way to write or to start anything (R1).
 * Everything is read in one transaction, so it is the same moment for every question.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DiskFailed, toOpenFailure } from '../disk.ts';
import type { Recorded } from '../events.ts';
import type { Snapshot } from '../log.ts';
import type { PayloadReader } from '../payloads.ts';
import type { Projection, Row, RowReader } from '../rows.ts';
import { openConnection, type Connection, type SqlFunctions } from './connection.ts';
import { insertEvent, readAll, readStream } from './event-store.ts';
import { LOG_FILE } from './log.ts';
import { createPastViews, type PastViews } from './past-views.ts';
import { createPayloadReader } from './payload-store.ts';
import { projectEach } from './rebuild.ts';
import { createRowReader, createRowWriter } from './row-store.ts';
import { assertSchema, EVENTS } from './schema.ts';
import { createStatements, type Prepare } from './statements.ts';

export interface RowDifference {
  readonly table: string;
  readonly key: string;
  /** The last event that wrote the row; undefined when no event of the log did. */
  readonly position: number | undefined;
  readonly live: Row | undefined;
  readonly rebuilt: Row | undefined;
}

export interface History {
  readStream(stream: string, from: number, limit: number): Recorded[];
  readAll(after: number, limit: number): Recorded[];
  snapshots(): { stream: string; snapshot: Snapshot }[];
  readonly payloads: PayloadReader;
  readonly views: PastViews;
  readonly rows: RowReader;
  /** Derived rows as they were when `events` were all that had happened. `close` frees them. */
  rowsOf(events: readonly Recorded[]): { readonly rows: RowReader; close(): void };
  /** Rebuilds every row from the log and names the first that differs from the live one (P2). */
  firstDifference(): RowDifference | undefined;
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

  function inMemory(): { prepare: Prepare; close(): void } {
    const memory = openConnection(':memory:', { functions });
    // Rows say where their fact is.
    memory.exec(EVENTS + projection.ddl);
    return { prepare: createStatements(memory), close: () => memory.close() };
  }

  const rows = createRowReader(prepare);
  return {
    readStream: (stream, from, limit) => readStream(prepare, stream, from, limit),
    readAll: (after, limit) => readAll(prepare, after, limit),
    snapshots: () =>
      (
        prepare('SELECT stream, version, state FROM snapshots ORDER BY stream').all() as {
          stream: string;
          version: number;
          state: string;
        }[]
      ).map(({ stream, version, state }) => ({
        stream,
        snapshot: { version, state: JSON.parse(state) as Snapshot['state'] },
      })),
    payloads: createPayloadReader(prepare, rows.search),
    views: createPastViews(prepare, rows),
    rows,
    rowsOf(events) {
      const memory = inMemory();
      const writeRow = createRowWriter(memory.prepare);
      for (const event of events) {
        insertEvent(memory.prepare, event);
        for (const write of projection.project(event)) writeRow(write);
      }
      return { rows: createRowReader(memory.prepare), close: memory.close };
    },
    firstDifference() {
      const memory = inMemory();
      try {
        const writeRow = createRowWriter(memory.prepare);
        const writers = new Map<string, number>();
        projectEach(prepare, projection, (event, write) => {
          writeRow(write);
          const row = write.op === 'put' ? write.row : write.key;
          writers.set(`${write.table} ${String(Object.values(row)[0])}`, event.meta.position);
        });
        for (const table of projection.tables) {
          const difference = compare(table, prepare, memory.prepare);
          if (difference === undefined) continue;
          return { ...difference, position: writers.get(`${table} ${difference.key}`) };
        }
        return undefined;
      } finally {
        memory.close();
      }
    },
    damage() {
      const found = db.pragma('integrity_check(1)', { simple: true }) as string;
      return found === 'ok' ? undefined : found;
    },
    close: () => db.close(),
  };
}

/** Both sides in primary-key order: the first column of every derived table is its key. */
function compare(
  table: string,
  live: Prepare,
  rebuilt: Prepare,
): Omit<RowDifference, 'position'> | undefined {
  const ordered = `SELECT * FROM ${table} ORDER BY 1`;
  const theirs = rebuilt(ordered).all() as Row[];
  let index = 0;
  for (const row of live(ordered).iterate() as IterableIterator<Row>) {
    const other = theirs[index];
    index += 1;
    if (JSON.stringify(row) === JSON.stringify(other)) continue;
    const [key, otherKey] = [keyOf(row), other === undefined ? undefined : keyOf(other)];
    if (key === otherKey) return { table, key, live: row, rebuilt: other };
    if (otherKey === undefined || key < otherKey) return { table, key, live: row, rebuilt: undefined };
    return { table, key: otherKey, live: undefined, rebuilt: other };
  }
  const missing = theirs[index];
  return missing && { table, key: keyOf(missing), live: undefined, rebuilt: missing };
}

const keyOf = (row: Row): string => String(Object.values(row)[0]);
