/** Schemas of test databases. One that a test has left is emptied and lent again, since making the tables costs more. */
import { randomUUID } from 'node:crypto';
import { readAddress } from '../../src/kernel/database-address.ts';

/** By the address of the database. */
const left = new Map<string, string[]>();

/** The way of a start that finds no keys, numbers from 1, and otherwise what the first start makes. */
const EMPTY = `DO $$
  DECLARE name text; size bigint;
  BEGIN
    FOR name, size IN SELECT c.oid::regclass, pg_total_relation_size(c.oid) FROM pg_class AS c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
    LOOP
      IF name = 'meta' THEN DELETE FROM meta WHERE key NOT IN ('format', 'rows');
      ELSIF size > 2000000 THEN EXECUTE 'TRUNCATE ' || name;
      ELSE EXECUTE 'DELETE FROM ' || name;
      END IF;
    END LOOP;
    PERFORM setval(oid, 1, false) FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S';
  END $$`;

/** Undefined: servers keep their logs in files, since `TEST_DATABASE_URL` names no database. */
export function newDatabaseUrl(): string | undefined {
  const database = process.env['TEST_DATABASE_URL'];
  return database ? newSchema(database) : undefined;
}

/** The address of tables without rows, or of a schema that is not there yet. */
function newSchema(database: string): string {
  const schema = left.get(database)?.pop() ?? `t${randomUUID().replaceAll('-', '')}`;
  return `${database}?schema=${schema}&pool=4`;
}

export async function leaveSchema(url: string): Promise<void> {
  const { connect } = await import('../../src/store/postgres/sessions.ts');
  const address = readAddress(url);
  const session = await connect(address);
  await session.ask(EMPTY);
  await session.end();
  const database = url.slice(0, url.indexOf('?'));
  left.set(database, [...(left.get(database) ?? []), address.schema!]);
}

/** Lends a schema of a database whose schemas all have the same tables. One of a test that failed stays as it is. */
export async function withSchema(database: string, use: (address: string) => Promise<void>): Promise<void> {
  const url = newSchema(database);
  await use(url);
  await leaveSchema(url);
}
