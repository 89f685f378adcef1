/**
 * The store at an address: the only place that knows which engine an address names. An address is a folder with a
 * SQLite log; `config` refuses others.
 */
import { backUp, type BackedUp, type BackupOptions } from './store/sqlite/files/backup.ts';
import { conditionOf, type Condition } from './store/sqlite/files/condition.ts';
import { openHistory } from './store/sqlite/history.ts';
import { openSqliteLog, type SqliteLogOptions } from './store/sqlite/log.ts';
import type { EncryptionKeys } from './store/sqlite/keyring.ts';
import { rekey, type Rekeyed } from './store/sqlite/rekey.ts';
import { openThreadSource } from './store/sqlite/payloads/thread-source.ts';
import type { OnProgress } from './kernel/progress.ts';
import type { EventLog } from './store/port/log.ts';
import type { History } from './store/port/past.ts';
import { restore, type Restored, type RestoreOptions } from './store/sqlite/files/restore.ts';
import type { ThreadSource } from './store/port/thread-source.ts';
import { projection } from './store/sql/rows/projection.ts';

type OpenLogOptions = Pick<SqliteLogOptions, 'clock' | 'onFault' | 'onWarning'>;

export interface Store {
  /** Opens the log for its one writer and creates it when it is missing. Throws like `openSqliteLog`. */
  openLog(options: OpenLogOptions): EventLog;
  /** R1 Opens the log read-only, beside a running server too. Throws when there is none. */
  openPast(): History;
  /** Copies the log into one file, beside a running server too. */
  backUp(file: string, options: BackupOptions): Promise<BackedUp>;
  /** Writes nothing. */
  condition(): Condition;
  /** Puts a backup in the place of the log. Throws `BackupDamaged` and `DataDirectoryBusy`. */
  restore(file: string, options: RestoreOptions): Restored;
  /** R1 Opens one thread for an export, beside a running server too. Throws when there is no log. */
  openSource(threadId: string): ThreadSource;
  /** Seals all content under the first key. Throws `DataDirectoryBusy`. */
  rekey(onProgress: OnProgress): Rekeyed;
}

/** `keys`: of an encrypted log, the one that writes first. */
export const storeAt = (address: string, keys: EncryptionKeys = []): Store => ({
  openLog: (options) =>
    openSqliteLog({
      dir: address,
      keys,
      projection,
      ...options,
    }),
  openPast: () => openHistory(address, projection, keys),
  backUp: (file, options) => backUp(address, file, options),
  condition: () => conditionOf(address, keys),
  restore: (file, options) => restore(file, address, options),
  openSource: (threadId) => openThreadSource(address, threadId, keys),
  rekey: (onProgress) => rekey(address, keys, projection.sealed ?? {}, onProgress),
});
