/**
 * The store at an address: the only place that knows which engine an address names. An address is a folder with a SQLite
 * log, or the URL of a PostgreSQL database, whose driver is loaded when it is opened.
 */
import { isDatabaseUrl } from './kernel/database-address.ts';
import type { OnProgress } from './kernel/progress.ts';
import { Unavailable } from './kernel/unavailable.ts';
import { readAddress } from './kernel/database-address.ts';
import type { Condition } from './store/port/condition.ts';
import type { EventLog, LogImport } from './store/port/log.ts';
import type { LogSource } from './store/port/log-source.ts';
import type { History } from './store/port/past.ts';
import type { ThreadSource } from './store/port/thread-source.ts';
import type { EncryptionKeys } from './store/sql/keyring.ts';
import { openLogSource } from './store/sql/log-source.ts';
import { openThreadSource } from './store/sql/past/thread-source.ts';
import { projection } from './store/sql/rows/projection.ts';
import { backUp, type BackedUp, type BackupOptions } from './store/sqlite/files/backup.ts';
import { assertSound, conditionOf } from './store/sqlite/files/condition.ts';
import { restore, type Restored, type RestoreOptions } from './store/sqlite/files/restore.ts';
import { openHistory, openReading } from './store/sqlite/history.ts';
import { openSqliteLog, type SqliteLogOptions } from './store/sqlite/log.ts';
import { openLogImport } from './store/sqlite/log-import.ts';
import { rekey, type Rekeyed } from './store/sqlite/rekey.ts';

interface OpenLogOptions extends Pick<SqliteLogOptions, 'clock' | 'onFault' | 'onWarning'> {
  /** Servers on one database notify each other at this address; undefined: at that of the database. */
  readonly listenUrl?: string | undefined;
}

export interface Store {
  /** The address as people see it, without a password. */
  readonly address: string;
  /** Opens the log for its one writer and creates it when it is missing. Rejects as the engine throws. */
  openLog(options: OpenLogOptions): Promise<EventLog>;
  /** R1 Opens the log read-only, beside a running server too. Throws when there is none. */
  openPast(): Promise<History>;
  /** Copies the log into one file, beside a running server too. Rejects when there is none, or a damaged one. */
  backUp(file: string, options: BackupOptions): Promise<BackedUp>;
  /**
   * Creates the tables of a database that are missing; `isCheck`: only looks. Resolves with whether some were. Undefined for a
   * folder, where a start does it.
   */
  readonly migrate: ((isCheck: boolean) => Promise<boolean>) | undefined;
  /** Writes nothing. */
  condition(): Promise<Condition>;
  /** Puts a backup in the place of the log. Throws `BackupDamaged` and `DataDirectoryBusy`. */
  restore(file: string, options: RestoreOptions): Restored;
  /** R1 Opens one thread for an export, beside a running server too. Throws when there is no log. */
  openSource(threadId: string): Promise<ThreadSource>;
  /** R1 Opens all of the log for an export, beside a running server too. Rejects when there is no log. */
  openLogSource(): Promise<LogSource>;
  /** Opens a log that has no facts, or none but those of an import that broke, for what `openLogSource` gave. */
  openLogImport(options: OpenLogOptions): Promise<LogImport>;
  /** Seals all content under the first key. Throws `DataDirectoryBusy`, and when there is no log. */
  rekey(onProgress: OnProgress): Rekeyed;
}

/** `keys`: of an encrypted log, the one that writes first. Throws for a URL that names no database. */
export const storeAt = (address: string, keys: EncryptionKeys = []): Store =>
  isDatabaseUrl(address) ? postgresAt(address, keys) : sqliteAt(address, keys);

const sqliteAt = (dir: string, keys: EncryptionKeys): Store => ({
  address: dir,
  openLog: async (options) => openSqliteLog({ dir, keys, projection, ...options }),
  openPast: async () => openHistory(dir, projection, keys),
  async backUp(file, options) {
    assertSound(dir);
    return backUp(dir, file, options);
  },
  migrate: undefined,
  condition: async () => conditionOf(dir, keys),
  restore: (file, options) => restore(file, dir, options),
  openSource: async (threadId) => openThreadSource(openReading(dir, keys), threadId),
  openLogSource: async () => openLogSource(openReading(dir, keys)),
  openLogImport: async (options) => openLogImport({ dir, keys, projection, ...options }),
  rekey(onProgress) {
    assertSound(dir);
    return rekey(dir, keys, projection.schema, onProgress);
  },
});

function postgresAt(url: string, keys: EncryptionKeys): Store {
  const { shown, schema } = readAddress(url);
  const ofSchema = schema === undefined ? '' : ` --schema=${schema}`;
  const history = () => import('./store/postgres/history.ts');
  const read = async () => (await history()).openReading(url, keys);
  const refuse = (what: string) => (): never => {
    throw new Unavailable(`${shown}: ${what}`);
  };
  return {
    address: shown,
    async openLog(options) {
      const { openPostgresLog } = await import('./store/postgres/log.ts');
      return openPostgresLog({ url, keys, projection, ...options });
    },
    async openPast() {
      const { viewHistory } = await history();
      return viewHistory(await read(), projection);
    },
    backUp: async () =>
      refuse(
        `PostgreSQL has its own backup: pg_dump --format=custom${ofSchema} --exclude-table-data='*.resume_calls' --file=FILE ${shown}`,
      )(),
    async migrate(isCheck) {
      const { migrate } = await import('./store/postgres/database.ts');
      return migrate(url, isCheck);
    },
    async condition() {
      const { conditionOf: look } = await import('./store/postgres/database.ts');
      return look(url, keys);
    },
    restore: refuse(`PostgreSQL puts a dump back into an empty database: pg_restore --dbname=${shown} FILE`),
    async openLogSource() {
      return openLogSource(await read());
    },
    async openLogImport(options) {
      const { openLogImport } = await import('./store/postgres/log-import.ts');
      return openLogImport({ url, keys, projection, ...options });
    },
    async openSource(threadId) {
      return openThreadSource(await read(), threadId);
    },
    rekey: refuse(
      'content keeps the key it was written under: put a new key first, and leave the old ones behind it',
    ),
  };
}
