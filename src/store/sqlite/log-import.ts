/**
 * The log of a data directory into which a whole log is imported. Until its end the file has a format of its own, so that no
 * server opens half a log; another import begins anew.
 */
import { existsSync, rmSync } from 'node:fs';
import type { LogImport } from '../port/log.ts';
import { openConnection, type Connection } from './connection.ts';
import { LOG_FILE, openSqliteLog, type SqliteLogOptions } from './log.ts';
import { join } from 'node:path';
import { FORMAT, hasFormat, IMPORTING, setFormat } from './schema.ts';

/** Throws when the log has events, and like `openSqliteLog`. */
export function openLogImport(options: SqliteLogOptions): LogImport {
  const file = join(options.dir, LOG_FILE);
  const log = openSqliteLog({
    ...options,
    beforeOpen: () => removeBroken(file),
    prepared: beginImport,
  });
  return {
    log,
    async complete() {
      await log.close();
      const db = openConnection(file);
      setFormat(db, FORMAT);
      db.close();
    },
  };
}

function removeBroken(file: string): void {
  if (!existsSync(file)) return;
  const db = openConnection(file, { readonly: true });
  const isBroken = hasFormat(db, IMPORTING);
  db.close();
  // The file itself last: what says that the import is broken.
  if (isBroken) for (const rest of ['-head', '-wal', '-shm', '']) rmSync(`${file}${rest}`, { force: true });
}

function beginImport(db: Connection): void {
  if (db.prepare('SELECT 1 FROM events LIMIT 1').get() !== undefined)
    throw new Error(
      `${db.name} has events; a whole log is imported into a new one: name another folder with --data`,
    );
  setFormat(db, IMPORTING);
}
