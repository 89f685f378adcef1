/** Opens the log read-only, beside a running server too (R1), in one transaction: each question sees the same moment. */
import { Unavailable } from '../../kernel/unavailable.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DiskFailed, toOpenFailure } from '../port/disk.ts';
import { withOwnScans } from '../sql/ask.ts';
import { PLAIN } from '../sql/coder.ts';
import { RowsOutdated, type History } from '../port/past.ts';
import type { EncryptionKeys } from '../sql/keyring.ts';
import { headPosition } from '../sql/event-store.ts';
import { createPast } from '../sql/past/past.ts';
import type { Reading } from '../sql/past/reading.ts';
import type { Projection } from '../sql/projection.ts';
import { createAsk } from './ask.ts';
import { openConnection, type Connection } from './connection.ts';
import { endsBefore, readMark } from './files/high-water-mark.ts';
import { openKeyring } from './keyring.ts';
import { LOG_FILE } from './log.ts';
import { assertFormat } from './schema.ts';
import { createStatements } from './statements.ts';

interface FileReading extends Reading {
  readonly db: Connection;
  /** The position that the log had reached before it was opened. */
  readonly marked: number;
}

/** Throws when the directory holds no log of this program. */
export function openReading(dir: string, keys: EncryptionKeys = []): FileReading {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Unavailable(`${file} does not exist`);
  let db: Connection | undefined;
  try {
    db = openConnection(file, { readonly: true });
    assertFormat(db);
    const { coder } = openKeyring(db, keys);
    // Read before the transaction begins, which sees at least as much.
    const marked = readMark(file);
    db.exec('BEGIN');
    return readingOf(db, coder, marked);
  } catch (error) {
    db?.close();
    const failure = toOpenFailure(dir, error);
    // Nothing is to be written here.
    if (!(failure instanceof DiskFailed)) throw failure;
    throw new Unavailable(`the log in ${dir} cannot be read: ${String(failure.cause)}`, { cause: error });
  }
}

/** The connection belongs to the reading from now on. Without a transaction the reading moves with the log. */
export function readingOf(db: Connection, coder = PLAIN, marked = 0): FileReading {
  const prepare = createStatements(db, coder);
  const { runAsync: run, context } = prepare.driver;
  return {
    ...{ db, marked, context, run },
    ask: withOwnScans(createAsk(prepare)),
    size: async () =>
      prepare('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size')
        .pluck()
        .get() as number,
    close: async () => void db.close(),
  };
}

export const openHistory = (dir: string, projection: Projection, keys?: EncryptionKeys): History =>
  viewHistory(openReading(dir, keys), projection);

export function viewHistory(reading: FileReading, projection: Projection): History {
  const { db, marked, run } = reading;
  const past = createPast(reading, projection);
  return {
    ...past,
    async firstDifference(onEvents) {
      const version = db.prepare("SELECT value FROM meta WHERE key = 'projection'").pluck().get() as
        string | undefined;
      if (version !== projection.version) throw new RowsOutdated(version, projection.version);
      return past.firstDifference(onEvents);
    },
    async damage() {
      const found = db.pragma('integrity_check(1)', { simple: true }) as string;
      if (found !== 'ok') return found;
      const head = await run(headPosition());
      return head < marked ? endsBefore(db.name, head, marked) : undefined;
    },
    leavesOut: undefined,
  };
}
