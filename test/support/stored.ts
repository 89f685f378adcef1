/** What the log of a server holds, read beside the server, whichever engine keeps it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAddress } from '../../src/kernel/database-address.ts';
import type { Session } from '../../src/store/postgres/sessions.ts';
import type { Row } from '../../src/store/port/rows.ts';
import { openConnection } from '../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import type { TestServer } from './with-server.ts';

type Server = Pick<TestServer, 'dir' | 'config'>;

/** The server's log, as commands take it after \`--data\`. */
export const logOf = ({ dir, config: { databaseUrl } }: Server): string => databaseUrl ?? join(dir, 'data');

async function withSession<T>(url: string, use: (session: Session) => Promise<T>): Promise<T> {
  const { connect } = await import('../../src/store/postgres/sessions.ts');
  const session = await connect(readAddress(url));
  try {
    return await use(session);
  } finally {
    await session.end();
  }
}

export async function rowsOf({ dir, config: { databaseUrl } }: Server, sql: string): Promise<Row[]> {
  if (databaseUrl !== undefined) return withSession(databaseUrl, (session) => session.ask(sql));
  const db = openConnection(join(dir, 'data', LOG_FILE), { readonly: true });
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

/** Names of files in the server's folder, and of tables in its database, that hold one of the texts; each with the text. */
export async function placesOf({ dir, config }: Server, ...texts: readonly string[]): Promise<string[]> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true });
  const kept = files
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }): [string, Buffer] => [name, readFileSync(join(parentPath, name))]);
  if (config.databaseUrl !== undefined) kept.push(...(await withSession(config.databaseUrl, readTables)));
  return kept.flatMap(([name, bytes]) =>
    texts.filter((text) => bytes.includes(text)).map((text) => `${name}: ${text}`),
  );
}

/** Rows as text, with content as it is where it is text. */
async function readTables(session: Session): Promise<[string, Buffer][]> {
  await session.ask("SELECT set_config('bytea_output', 'escape', false)");
  const tables = await session.ask('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()');
  const read: [string, Buffer][] = [];
  for (const { tablename } of tables) {
    const [all] = await session.ask(
      `SELECT coalesce(string_agg(t::text, '\n'), '') AS text FROM ${tablename} AS t`,
    );
    read.push([String(tablename), Buffer.from(String(all!['text']))]);
  }
  return read;
}
