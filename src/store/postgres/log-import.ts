/**
 * The log of a database into which a whole log is imported. Until its end the tables have a format of their own, so that no
 * server opens half a log; another import begins anew.
 */
import type { LogImport } from '../port/log.ts';
import { LOG_TABLES } from '../sql/log-tables.ts';
import { SCHEMA } from '../sql/rows/tables.ts';
import { ask, write, type Work } from '../sql/work.ts';
import { readAddress } from '../../kernel/database-address.ts';
import { ID_BLOCK } from './exchange.ts';
import { atDatabase } from './database.ts';
import { openPostgresLog, type PostgresLogOptions } from './log.ts';
import { FORMAT, IMPORTING, prepareSchema } from './schema.ts';

const { meta: _, ...CONTENT_TABLES } = { ...LOG_TABLES, ...SCHEMA };

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

/** Makes the tables for a whole log, or empties those of an import that broke. False, and nothing is done, when there are events. */
function* beginImport(schema: string | undefined): Work<boolean> {
  yield* prepareSchema(undefined, schema, true);
  const [found] = yield* ask<{ format: string; has_events: number }>(
    "SELECT value AS format, EXISTS (SELECT 1 FROM events) AS has_events FROM meta WHERE key = 'format' FOR UPDATE",
    [],
  );
  if (Number(found!.format) === IMPORTING) yield write(`TRUNCATE ${Object.keys(CONTENT_TABLES).join()}`, []);
  else if (found!.has_events !== 0) return false;
  yield write(`UPDATE meta SET value = '${IMPORTING}' WHERE key = 'format'`, []);
  return true;
}

/** Row ids go on behind the positions that the import brought. */
function* completeImport(): Work<void> {
  yield* ask(
    `SELECT setval('events_ids', coalesce(max(position), 0) / ${ID_BLOCK} * ${ID_BLOCK} + 1) FROM events`,
    [],
  );
  yield write(`UPDATE meta SET value = '${FORMAT}' WHERE key = 'format'`, []);
}
