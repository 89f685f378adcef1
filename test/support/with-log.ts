import { join } from 'node:path';
import type { Ids } from '../../src/kernel/ids.ts';
import type { EventLog } from '../../src/store/port/log.ts';
import type { Projection } from '../../src/store/sql/projection.ts';
import { openConnection, type Connection } from '../../src/store/sqlite/connection.ts';
import type { History } from '../../src/store/port/past.ts';
import { readingOf, viewHistory } from '../../src/store/sqlite/history.ts';
import { LOG_FILE, openSqliteLog } from '../../src/store/sqlite/log.ts';
import { createRowReader, type RowReader } from './row-reader.ts';
import { createStatements } from '../../src/store/sqlite/statements.ts';
import { projection as realProjection } from '../../src/store/sql/rows/projection.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import type { Random } from './random.ts';
import { withTempDir } from './temp-dir.ts';

export interface TestLog {
  readonly dir: string;
  readonly clock: ManualClock;
  /** The open log; another one after `reopen`. */
  readonly log: EventLog;
  /** What listeners threw. */
  readonly faults: readonly unknown[];
  /** Closes the log and opens it again, with another projection if one is given. */
  reopen(projection?: Projection): Promise<EventLog>;
  /** Lends the past of the directory and its rows, read-only, beside the open log. */
  past<T>(use: (history: History, rows: RowReader) => Promise<T> | T): Promise<T>;
  /** Reads rows beside the open log. */
  readonly rows: RowReader;
  /** Lends a second connection to the file, to look at it or to damage it behind the log's back. */
  behind<T>(use: (db: Connection) => T): T;
}

/** Lends an event log in a real file. Its clock stands still until it is moved. */
export async function withLog<T>(
  use: (given: TestLog) => Promise<T>,
  { projection: first = realProjection, now }: { projection?: Projection; now?: () => number } = {},
): Promise<T> {
  return withTempDir(async (dir) => {
    const clock = createManualClock();
    const faults: unknown[] = [];
    let projection = first;
    const open = (): EventLog =>
      openSqliteLog({
        dir,
        projection,
        clock: now === undefined ? clock : { ...clock, now },
        onFault: (error) => faults.push(error),
      });
    let log = open();
    let past: { readonly db: Connection; readonly history: History; readonly rows: RowReader } | undefined;
    const openPast = () => {
      const db = openConnection(join(dir, LOG_FILE), { readonly: true });
      return {
        db,
        history: viewHistory(readingOf(db), projection),
        rows: createRowReader(createStatements(db)),
      };
    };
    const closeAll = async (): Promise<void> => {
      past?.db.close();
      past = undefined;
      await log.close();
    };
    try {
      return await use({
        dir,
        clock,
        faults,
        get log() {
          return log;
        },
        get rows() {
          return (past ??= openPast()).rows;
        },
        async reopen(next = projection) {
          await closeAll();
          projection = next;
          return (log = open());
        },
        async past(look) {
          // Opened once: a model looks after each of its steps.
          past ??= openPast();
          const { db, history, rows } = past;
          db.exec('BEGIN');
          try {
            return await look(history, rows);
          } finally {
            db.exec('COMMIT');
          }
        },
        behind(look) {
          const db = openConnection(join(dir, LOG_FILE));
          try {
            return look(db);
          } finally {
            db.close();
          }
        },
      });
    } finally {
      await closeAll();
    }
  });
}

/** Ids that a seed repeats. Those of one millisecond come in no order, so that nothing can rest on it. */
export function seededIds(clock: { now(): number }, random: Random): Ids {
  const hex = (length: number): string => Buffer.from(random.bytes(length)).toString('hex');
  return {
    uuid() {
      const time = clock.now().toString(16).padStart(12, '0');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}`;
    },
    token: () => hex(10),
  };
}
