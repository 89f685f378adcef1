/** The database of test servers, when `TEST_DATABASE_URL` names one: each server gets a schema of its own there. */
import { randomUUID } from 'node:crypto';
import { readAddress } from '../../src/store/postgres/address.ts';

/** Undefined: servers keep their logs in files. */
export function newDatabaseUrl(): string | undefined {
  const url = process.env['TEST_DATABASE_URL'];
  return url && `${url}?schema=t${randomUUID().replaceAll('-', '')}&pool=4`;
}

export async function dropSchema(url: string): Promise<void> {
  const { connect } = await import('../../src/store/postgres/sessions.ts');
  const address = readAddress(url);
  const session = await connect(address);
  await session.ask(`DROP SCHEMA IF EXISTS "${address.schema}" CASCADE`);
  await session.end();
}
