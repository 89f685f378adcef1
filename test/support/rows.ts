import { join } from 'node:path';
import { openConnection } from '../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { createRowReader, type RowReader } from '../../src/store/sqlite/row-reader.ts';
import { createStatements } from '../../src/store/sqlite/statements.ts';

/** Lends the rows of a data directory, read-only, beside an open log too. */
export function withRows<T>(dir: string, use: (rows: RowReader) => T): T {
  const db = openConnection(join(dir, LOG_FILE), { readonly: true });
  try {
    return use(createRowReader(createStatements(db)));
  } finally {
    db.close();
  }
}
