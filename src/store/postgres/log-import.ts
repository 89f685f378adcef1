/**
 * The log of a database into which a whole log is imported. Until its end the tables have a format of their own, so that no
 * server opens half a log; another import begins anew.
 */
import type { LogImport } from '../port/log.ts';
import { readAddress } from '../../kernel/database-address.ts';
import { atDatabase, openPostgresLog, type PostgresLogOptions } from './log.ts';
import { beginImport, completeImport } from './schema.ts';

/** Throws when the log has events, and like `openPostgresLog`. */
export async function openLogImport(options: PostgresLogOptions): Promise<LogImport> {
  const address = readAddress(options.url);
  if (!(await atDatabase(address, (session) => session.run(beginImport(address.schema)))))
    throw new Error(
      `${address.shown} has events; a whole log is imported into a new one: name another database or schema`,
    );
  const log = await openPostgresLog({ ...options, isImport: true });
  return {
    log,
    async complete() {
      await log.close();
      await atDatabase(address, (session) => session.run(completeImport()));
    },
  };
}
