/** L1: every connection is opened here, with durability set explicitly and read back. */
import { checksumOf } from '../sql/coder.ts';
import { Database } from './library.ts';
import { toId, toStoredId, type StoredId } from '../sql/payloads/stored-ids.ts';

export type Connection = Database;

/** Before this version two connections could corrupt the write-ahead log. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export interface ConnectionOptions {
  readonly readonly?: boolean;
}

export function openConnection(file: string, options: ConnectionOptions = {}): Connection {
  const readonly = options.readonly ?? false;
  const db = new Database(file, { readonly, fileMustExist: readonly });
  try {
    assertVersion(db);
    db.pragma('busy_timeout = 5000');
    db.pragma('trusted_schema = OFF');
    db.pragma('cell_size_check = ON');
    db.pragma('mmap_size = 0');
    // 32 MiB: the upper levels of the indexes of a million threads.
    db.pragma('cache_size = -32768');
    db.pragma('temp_store = MEMORY');
    db.pragma('foreign_keys = ON');
    // A row that is replaced is a row that is deleted: its triggers must hear of it.
    db.pragma('recursive_triggers = ON');
    if (readonly) db.pragma('query_only = ON');
    else prepareForWriting(db, file);
    addFunctions(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Registers the functions of the adapter's own statements. */
function addFunctions(db: Connection): void {
  const options = { deterministic: true };
  db.function('checksum', options, checksumOf);
  db.function('stored_id', options, toStoredId);
  db.function('shown_id', options, (id: StoredId | number | null) =>
    id instanceof Uint8Array ? toId(id) : id,
  );
}

function prepareForWriting(db: Connection, file: string): void {
  db.pragma('journal_mode = WAL');
  db.pragma('journal_size_limit = 67108864');
  db.pragma('secure_delete = ON');
  db.pragma('synchronous = FULL');
  // macOS: a plain fsync there does not reach the platter.
  db.pragma('fullfsync = ON');
  // The build's WAL default is NORMAL and takes over at the first write, so the setting is checked after one.
  db.exec(
    'CREATE TABLE IF NOT EXISTS opened (at INTEGER) STRICT; DELETE FROM opened; INSERT INTO opened VALUES (1)',
  );
  const level = db.pragma('synchronous', { simple: true });
  if (level !== 2)
    throw new Error(`${file}: synchronous is ${String(level)} after the first write, 2 (FULL) is needed`);
}

function assertVersion(db: Connection): void {
  const text = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const found = text.split('.').map(Number);
  for (const [index, wanted] of OLDEST_SQLITE.entries()) {
    const part = found[index] ?? 0;
    if (part > wanted) return;
    if (part < wanted) throw new Error(`SQLite ${text} is too old, ${OLDEST_SQLITE.join('.')} is needed`);
  }
}
