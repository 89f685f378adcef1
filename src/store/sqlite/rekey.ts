/**
 * Seals all content of a log under its first key, beside no running server, in one transaction: a log that was plain
 * becomes encrypted, and earlier keys are no longer needed. What it replaced is overwritten in the file.
 */
import { Unavailable } from '../../kernel/unavailable.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OnProgress } from '../../kernel/progress.ts';
import { isSealed, keyNumberOf, type Coder, type Label, type Stored } from '../sql/coder.ts';
import { toOpenFailure } from '../port/disk.ts';
import { dropOtherKeys, type EncryptionKeys } from '../sql/keyring.ts';
import { CONTENT_TABLES, findBadRow, isSecretTable } from '../sql/past/checksums.ts';
import { contentOf, type Tables } from '../sql/table.ts';
import { openConnection, type Connection } from './connection.ts';
import { assertComplete } from './files/high-water-mark.ts';
import { openKeyring } from './keyring.ts';
import { lockDirectory } from './files/lock.ts';
import { LOG_FILE } from './log.ts';
import { assertFormat } from './schema.ts';
import { openScrubber } from './files/scrubber.ts';
import { createStatements } from './statements.ts';

export interface Rekeyed {
  /** Rows that were sealed anew. */
  readonly rows: number;
}

interface Column {
  readonly table: string;
  readonly column: string;
  readonly label: Label;
  readonly hasChecksum: boolean;
}

/** Throws `DataDirectoryBusy` when a server has the log, and for content that is damaged. */
export function rekey(dir: string, keys: EncryptionKeys, schema: Tables, onProgress: OnProgress): Rekeyed {
  const file = join(dir, LOG_FILE);
  if (!existsSync(file)) throw new Unavailable(`${file} does not exist`);
  const unlock = lockDirectory(dir);
  try {
    assertComplete(file);
    const db = openConnection(file);
    let rows: number;
    try {
      assertFormat(db);
      const { coder, newest } = openKeyring(db, keys);
      if (newest === undefined)
        throw new Error(
          'PLATFORM_ENCRYPTION_KEY is not set; set it to the new key, and the earlier ones behind it',
        );
      rows = db.transaction(() => {
        const count = sealAll(db, coder, newest, schema, onProgress);
        createStatements(db).driver.run(dropOtherKeys(newest));
        return count;
      })();
      db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      db.close();
    }
    scrub(file);
    return { rows };
  } catch (error) {
    throw toOpenFailure(dir, error);
  } finally {
    unlock();
  }
}

function sealAll(
  db: Connection,
  coder: Coder,
  newest: number,
  schema: Tables,
  onProgress: OnProgress,
): number {
  const { run, context } = createStatements(db).driver;
  for (const table of CONTENT_TABLES) {
    const finding = run(findBadRow(context, table));
    if (finding !== undefined) throw new Unavailable(`nothing was changed: ${finding.problem}`);
  }
  const columns: Column[] = [
    ...CONTENT_TABLES.map((table) => ({
      ...{ table, column: 'data', hasChecksum: true },
      label: isSecretTable(table) ? ('secret' as const) : ('content' as const),
    })),
    { table: 'snapshots', column: 'state', label: 'content', hasChecksum: false },
    ...Object.entries(schema).flatMap(([table, of]) =>
      contentOf(of).map((column) => ({ table, column, label: 'content' as const, hasChecksum: false })),
    ),
  ];
  const isNew = (stored: unknown): boolean => isSealed(stored) && keyNumberOf(stored) === newest;
  // Not deterministic: the same text is sealed differently each time.
  db.function('is_new', (stored: unknown) => (isNew(stored) ? 1 : 0));
  db.function('resealed', (stored: Stored, label: Label) =>
    coder.seal(typeof stored === 'string' ? stored : coder.openBytes(stored, label), label),
  );
  let count = 0;
  for (const [done, { table, column, label, hasChecksum }] of columns.entries()) {
    onProgress({ phase: 'sealing', done, total: columns.length, unit: 'tables' });
    count += db
      .prepare(
        `UPDATE ${table} SET ${column} = resealed(${column}, ?) WHERE ${column} IS NOT NULL AND is_new(${column}) = 0`,
      )
      .run(label).changes;
    if (hasChecksum) db.exec(`UPDATE ${table} SET crc = checksum(CAST(${column} AS BLOB))`);
  }
  return count;
}

/** Call when no connection has the file open. */
function scrub(file: string): void {
  const scrubber = openScrubber(file);
  try {
    for (let page = scrubber.step(0); page !== undefined; page = scrubber.step(page));
  } finally {
    scrubber.close();
  }
}
