/**
 * The store at an address: the only place that knows which engine an address names. An address is a folder with a
 * SQLite log; `config` refuses others.
 */
import { openHistory, type History } from './log/sqlite/history.ts';
import { openSqliteLog, type SqliteLogOptions } from './log/sqlite/log.ts';
import type { EventLog } from './log/log.ts';
import { projection, projectionModule } from './projections/projection.ts';
import { sqlFunctions, sqlFunctionsModule } from './sql-functions.ts';

export type OpenLogOptions = Pick<SqliteLogOptions, 'clock' | 'onFault' | 'onWarning'>;

export interface Store {
  /** Opens the log for its one writer and creates it when it is missing. Throws like `openSqliteLog`. */
  openLog(options: OpenLogOptions): EventLog;
  /** R1 Opens the log read-only, beside a running server too. Throws when there is none. */
  openPast(): History;
}

export const storeAt = (address: string): Store => ({
  openLog: (options) =>
    openSqliteLog({
      dir: address,
      ...{ projection, projectionModule },
      ...{ functions: sqlFunctions, functionsModule: sqlFunctionsModule },
      ...options,
    }),
  openPast: () => openHistory(address, projection, sqlFunctions),
});
