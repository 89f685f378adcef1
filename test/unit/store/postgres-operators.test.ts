/** A database whose operator gave too little: a start says what is missing, and a server does with what there is. */
import assert from 'node:assert/strict';
import { EXIT_UNAVAILABLE, exitCodeOf } from '../../../src/cli/exit-codes.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { createPool } from '../../../src/store/postgres/pool.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { runHere } from '../../support/command-line.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, what operators of PostgreSQL give');
const url = shared(test, withPostgres);

/** The same database as another role. */
const as = (user: string, more = ''): string => url().replace('postgres:postgres@', `${user}:secret@`) + more;

/** Runs statements as the role that may do all. */
async function change(...statements: readonly string[]): Promise<void> {
  const session = await connect(readAddress(url()));
  for (const sql of statements) await session.ask(sql);
  await session.end();
}

test('a role with fewer connections than a server takes is refused, with the pool that would do', async () => {
  // given a role that may have twelve connections, and one that may have five
  await change(
    "CREATE ROLE twelve LOGIN PASSWORD 'secret' CONNECTION LIMIT 12",
    "CREATE ROLE five LOGIN PASSWORD 'secret' CONNECTION LIMIT 5",
    'CREATE SCHEMA few AUTHORIZATION twelve',
  );
  const opened = (address: string) => openTestPostgres(address);
  await assert.rejects(opened(as('twelve', '?schema=few')), (error: Error) => {
    assert.match(
      error.message,
      /takes 13 connections \(\?pool=10 and 3 more\).+LIMIT of the role allows 12: raise it, or set \?pool=9$/,
    );
    return exitCodeOf(error) === EXIT_UNAVAILABLE;
  });
  await assert.rejects(opened(as('five', '?schema=few')), /allows 5: raise it$/);
  // when the pool is as said, then the log opens, and a schema needs no right on the database
  const log = await opened(as('twelve', '?schema=few&pool=9'));
  committed(await log.commit(batch([append('s', 0, 'one')])));
  await log.close();
});

test('a pool that gets no more connections makes do with those that it has', async () => {
  // given a role that may have two connections
  await change("CREATE ROLE two LOGIN PASSWORD 'secret' CONNECTION LIMIT 2");
  const address = readAddress(as('two'));
  const pool = createPool(() => connect(address), 8);
  // when twenty ask at once, then all are answered
  const asked = Array.from({ length: 20 }, () =>
    pool.lend((session: Session) => session.ask('SELECT 1 AS one')),
  );
  assert.deepEqual(
    await Promise.all(asked),
    Array.from({ length: 20 }, () => [{ one: 1 }]),
  );
  await pool.close();
});

test('an address for notifications that leads to other tables is refused by its own name', async () => {
  const log = (listenUrl: string) => openTestPostgres(`${url()}?schema=told`, { listenUrl });
  await change('CREATE SCHEMA told');
  const [server] = url().split(/(?<=\/)[^/]+$/) as [string];
  await assert.rejects(
    log(`${server}template1`),
    /PLATFORM_DATABASE_LISTEN_URL: \S+: expected the tables of/,
  );
  await assert.rejects(
    log('postgres://u:secret@127.0.0.1:1/d'),
    /PLATFORM_DATABASE_LISTEN_URL: \S+: nothing answers/,
  );
  await (await log(url())).close();
});

test('a command that reads is refused with the table that its role may not read', async () => {
  await (await openTestPostgres(`${url()}?schema=unread`)).close();
  const env = { PLATFORM_DATABASE_URL: as('unreading', '?schema=unread') };
  await change("CREATE ROLE unreading LOGIN PASSWORD 'secret'");
  const verify = () =>
    runHere(['verify'], env).then(
      () => 'verified',
      (error: Error) => `${exitCodeOf(error)} ${error.message}`,
    );
  assert.match(await verify(), /^3 \S+: it has no log that the role may see/);
  await change('GRANT USAGE ON SCHEMA unread TO unreading', 'GRANT SELECT ON unread.meta TO unreading');
  assert.match(
    await verify(),
    /^3 \S+: there is no "\w+", or the role lacks rights on it: grant it SELECT on all/,
  );
});

test.run();
