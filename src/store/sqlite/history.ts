/** Opens the log read-only, beside a running server too (R1), in one transaction: each question sees the same moment. */
import { Unavailable } from '../../kernel/unavailable.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DiskFailed, toOpenFailure } from '../port/disk.ts';
import { PLAIN, type Coder } from '../sql/coder.ts';
import type { History, StoredSnapshot } from '../port/past.ts';
import type { EncryptionKeys } from '../sql/keyring.ts';
import { headPosition, readAll, readStream } from '../sql/event-store.ts';
import type { Projection } from '../sql/projection.ts';
import { createPayloadReader } from '../sql/payloads/payload-reader.ts';
import { projectThread } from '../sql/rows/threads.ts';
import { toThread } from '../sql/views/thread-queries.ts';
import { createViews } from '../sql/views/views.ts';
import { createAsk, withOwnScans } from './ask.ts';
import { openConnection, type Connection } from './connection.ts';
import { findBadChecksum } from './payloads/checksums.ts';
import { endsBefore, readMark } from './files/high-water-mark.ts';
import { openCoder } from './keyring.ts';
import { LOG_FILE } from './log.ts';
import { createPastViews } from './past-views.ts';
import { findBadPayload } from './payloads/payload-checks.ts';
import { findDifference } from './row-comparison.ts';
import { createRowReader } from './row-reader.ts';
import { assertFormat } from './schema.ts';
import { createStatements } from './statements.ts';

/** Throws when the directory holds no log of this program. */
export function openHistory(dir: string, projection: Projection, keys: EncryptionKeys = []): History {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Unavailable(`${file} does not exist`);
  let db: Connection | undefined;
  try {
    db = openConnection(file, { readonly: true });
    assertFormat(db);
    const coder = openCoder(db, keys);
    // Read before the transaction begins, which sees at least as much.
    const marked = readMark(file);
    db.exec('BEGIN');
    return viewHistory(db, projection, { coder, marked });
  } catch (error) {
    db?.close();
    const failure = toOpenFailure(dir, error);
    // Nothing is to be written here.
    if (!(failure instanceof DiskFailed)) throw failure;
    throw new Unavailable(`the log in ${dir} cannot be read: ${String(failure.cause)}`, { cause: error });
  }
}

/** The history that a connection sees, which is its own from now on; without a transaction it moves with the log. */
export function viewHistory(
  db: Connection,
  projection: Projection,
  { coder = PLAIN, marked = 0 }: { readonly coder?: Coder; readonly marked?: number | undefined } = {},
): History {
  const prepare = createStatements(db, coder);
  const { run, runAsync, context } = prepare.driver;
  const rows = createRowReader(prepare);
  const ask = withOwnScans(createAsk(prepare));
  const payloads = createPayloadReader(context, runAsync);
  return {
    readStream: (stream, from, limit) => run(readStream(context, stream, from, limit)),
    readAll: (after, limit) => run(readAll(context, after, limit)),
    snapshot(stream) {
      const row = prepare('SELECT version, state FROM snapshots WHERE stream = ?').get(stream) as
        StoredSnapshot | undefined;
      return row && { ...row, state: coder.open(row.state) };
    },
    payloads,
    views: createViews(ask, payloads.containing),
    past: createPastViews(prepare, rows),
    project: projectThread,
    threadOf: toThread,
    firstDifference: (onEvent = () => true) => findDifference(prepare, projection, onEvent),
    eventCount: () => prepare('SELECT count(*) FROM events').pluck().get() as number,
    damage() {
      const found = db.pragma('integrity_check(1)', { simple: true }) as string;
      if (found !== 'ok') return found;
      const head = run(headPosition());
      return head < marked ? endsBefore(db.name, head, marked) : undefined;
    },
    payloadFinding: () => findBadPayload(rows) ?? findBadChecksum(rows),
    close: () => db.close(),
  };
}
