/** A database that is not what it should be: nothing is lost or half done, and one line says why. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { EXIT_UNAVAILABLE, exitCodeOf } from '../../../src/cli/exit-codes.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { LogUnavailable } from '../../../src/store/port/log-failures.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { append, batch, committed, textsOf } from '../../support/batches.ts';
import { runHere } from '../../support/command-line.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';

const test = suite('store, faults of PostgreSQL');
const url = shared(test, withPostgres);

/** The same database as another role. */
const addressOf = ({ user = 'postgres:postgres' }: { user?: string }): string => {
  const { host, pathname } = new URL(url());
  return `postgres://${user}@${host}${pathname}`;
};

/** Refused in one line without the password. */
async function refused(given: string, says: RegExp, keys: readonly string[] = []): Promise<void> {
  const opened = await openTestPostgres(given, { keys }).catch((error: unknown) => error as Error);
  // A log that stays open would keep the process from ending.
  if (!(opened instanceof Error)) await opened.close();
  assert.ok(opened instanceof Error, `${given} is opened, which is to be refused: ${says}`);
  assert.match(opened.message, says);
  assert.ok(!opened.message.includes('secret') && !opened.message.includes('\n'), opened.message);
  assert.equal(exitCodeOf(opened), EXIT_UNAVAILABLE);
}

test('an address that names no usable database is refused in one line without the password', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    [addressOf({ user: 'nobody:secret' }), /user and password/],
    [addressOf({}).replace(/[^/]+$/, 'absent'), /no such database/],
    ['postgres://u:secret@127.0.0.1:1/d', /nothing answers there/],
    ['postgres://u:secret@127.0.0.1:1,127.0.0.1:2/d', /127\.0\.0\.1:1: nothing.+127\.0\.0\.1:2: nothing/],
  ];
  for (const [given, says] of wrong) await refused(given, says);
});

test('a database of another encoding is refused, whatever a log would write', async () => {
  const session = await connect(readAddress(url()));
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    await session.ask(
      `CREATE DATABASE other_${encoding} ENCODING '${encoding}' TEMPLATE template0 LOCALE_PROVIDER libc`,
    );
    const { port } = new URL(url());
    const address = `postgres://postgres:postgres@127.0.0.1:${port}/other_${encoding.toLowerCase()}`;
    await refused(address, new RegExp(`encoded as ${encoding}: create a database with ENCODING 'UTF8'`));
  }
  await session.end();
});

test("L1 commits wait for the server's disk, whatever the settings of the role", async () => {
  const owner = await connect(readAddress(url()));
  await owner.ask("CREATE ROLE hasty SUPERUSER LOGIN PASSWORD 'secret'");
  const address = readAddress(url().replace('postgres:postgres@', 'hasty:secret@'));
  const settingOf = async (): Promise<unknown> => {
    const session = await connect(address);
    const [found] = await session.ask("SELECT current_setting('synchronous_commit') AS value");
    await session.end();
    return found!['value'];
  };
  await owner.ask('ALTER ROLE hasty SET synchronous_commit = off');
  assert.equal(await settingOf(), 'on');
  await owner.ask('ALTER ROLE hasty SET synchronous_commit = remote_apply');
  assert.equal(await settingOf(), 'remote_apply');
  await owner.end();
});

test('a role that may not create or write is refused, and leaves nothing', async () => {
  const session = await connect(readAddress(url()));
  await session.ask("CREATE ROLE reader LOGIN PASSWORD 'secret'");
  const address = addressOf({ user: 'reader:secret' });
  await refused(address, /lacks a right: grant it, or run "rewound migrate"/);
  await refused(`${address}?schema=of_reader`, /lacks a right/);
  await session.ask('ALTER ROLE reader SET default_transaction_read_only = on');
  await session.ask(`GRANT CREATE ON DATABASE ${new URL(address).pathname.slice(1)} TO reader`);
  await refused(
    `${address}?schema=of_reader`,
    /takes no writes: name the primary, or see default_transaction_read_only/,
  );
  assert.deepEqual(
    await session.ask(
      "SELECT 1 FROM pg_namespace WHERE nspname = 'of_reader' UNION ALL SELECT 1 FROM pg_tables WHERE tableowner = 'reader'",
    ),
    [],
  );
  await session.end();
});

test('where the tables are there, a role needs no right to create', async () => {
  // given the roles of the page: one that owns the schema, and one for servers
  const owner = await connect(readAddress(url()));
  const schema = 'of_owner';
  for (const sql of [
    "CREATE ROLE service LOGIN PASSWORD 'secret'",
    `CREATE SCHEMA ${schema}`,
    `GRANT USAGE ON SCHEMA ${schema} TO service`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO service`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE ON SEQUENCES TO service`,
  ])
    await owner.ask(sql);
  const address = `${addressOf({ user: 'service:secret' })}?schema=${schema}`;
  await refused(address, /lacks a right: grant it, or run "rewound migrate"/);
  await (await openTestPostgres(`${url()}?schema=${schema}`)).close();
  // and one that lacks a right, on a sequence or a table, or reads only
  for (const [change, undo, says] of [
    [
      'REVOKE USAGE ON SEQUENCE S.frames_ids FROM',
      'GRANT USAGE ON SEQUENCE S.frames_ids TO',
      /no "frames_ids", or/,
    ],
    [
      'REVOKE INSERT ON S.nodes FROM',
      'GRANT INSERT ON S.nodes TO',
      /no "nodes", or the role lacks rights on it: grant it SELECT, INSERT,/,
    ],
    [
      'ALTER ROLE service SET default_transaction_read_only = on --',
      'ALTER ROLE service RESET ALL --',
      /takes no writes/,
    ],
  ] as const) {
    await owner.ask(`${change.replace('S.', `${schema}.`)} service`);
    await refused(address, says);
    await owner.ask(`${undo.replace('S.', `${schema}.`)} service`);
  }
  // when a server opens the log as the other role, then it commits and reads
  const log = await openTestPostgres(address);
  committed(await log.commit(batch([append('s', 0, 'one')])));
  assert.equal(await log.streamVersion('s'), 1);
  await log.close();
  await owner.end();
});

test('migrate makes the tables once, --check tells of them, and a folder needs none', async () => {
  const env = { PLATFORM_DATABASE_URL: `${url()}?schema=migrated` };
  const run = (...args: string[]) => runHere(['migrate', ...args], env);
  assert.deepEqual([(await run('--check')).code, (await run('--check')).code], [1, 1]);
  assert.match((await run()).out, /^postgres:\/\/postgres@\S+: created the tables$/);
  assert.match((await run()).out, /the tables are those of this release, nothing to do$/);
  assert.deepEqual(JSON.parse((await run('--check', '--json')).out).missing, false);
  assert.match((await runHere(['migrate', '--data', 'x'], env)).out, /x is a folder: the start of a server/);
});

test('commands for files of a log name the way that PostgreSQL has', async () => {
  const env = { PLATFORM_DATABASE_URL: `${url()}?schema=migrated` };
  for (const [command, way] of [
    [
      ['backup', 'x'],
      /: pg_dump --format=custom --schema=migrated --exclude-table-data='\*\.resume_calls' --file=FILE postgres:\/\/postgres@127\S+$/,
    ],
    [['restore', 'x'], /: pg_restore --dbname=postgres:\/\/postgres@127\S+ FILE$/],
    [['rekey'], /: put a new key first/],
  ] as const)
    await assert.rejects(
      runHere([...command], env),
      (error: Error) => way.test(error.message) && exitCodeOf(error) === EXIT_UNAVAILABLE,
    );
});

test('content is sealed under the key, and a start without it, or with another one, is refused', async () => {
  const address = `${url()}?schema=sealed`;
  const [first, second] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string];
  const log = await openTestPostgres(address, { keys: [first] });
  committed(await log.commit(batch([append('s', 0, 'plainly said')])));
  await log.close();
  const session = await connect(readAddress(address));
  const [event] = await session.ask(
    "SELECT position('plainly said' in encode(data, 'escape')) AS place FROM events",
  );
  assert.equal(event!['place'], 0);
  await session.end();
  await refused(address, /it is encrypted and PLATFORM_ENCRYPTION_KEY is not set/);
  await refused(address, /under a key that PLATFORM_ENCRYPTION_KEY does not have/, [second]);
  const again = await openTestPostgres(address, { keys: [second, first] });
  assert.deepEqual(textsOf(await again.readStream('s', 1, 10)), ['plainly said']);
  await again.close();
});

test('L4 a commit for which the database has no room is not done, and the next one is', async () => {
  const address = `${url()}?schema=full`;
  const log = await openTestPostgres(address);
  const session = await connect(readAddress(address));
  await session.ask(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
  await session.ask(
    'CREATE TRIGGER full_disk BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION no_room()',
  );
  assert.deepEqual(await log.commit(batch([append('s', 0, 'a')])), {
    kind: 'not-done',
    cause: 'the disk is full',
  });
  await session.ask('DROP TRIGGER full_disk ON events');
  await session.end();
  committed(await log.commit(batch([append('s', 0, 'a')])));
  await log.close();
});

test('L4 a commit that costs its connection each time is of unknown outcome in the end, and the next one is done', async () => {
  const address = `${url()}?schema=lost`;
  const log = await openTestPostgres(address);
  const session = await connect(readAddress(address));
  await session.ask(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`);
  await session.ask(`CREATE CONSTRAINT TRIGGER deadly AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION die()`);
  await assert.rejects(log.commit(batch([append('s', 0, 'a')])), LogUnavailable);
  await session.ask('DROP TRIGGER deadly ON events');
  await session.end();
  committed(await log.commit(batch([append('t', 0, 'a')])));
  await log.close();
});

test('a commit with a name that is too long for an index fails for good, and the next one is done', async () => {
  const log = await openTestPostgres(`${url()}?schema=long_names`);
  // No database can compress it.
  const name = randomBytes(10_000).toString('base64');
  await assert.rejects(log.commit(batch([append(name, 0, 'a')])), { code: '54000' });
  committed(await log.commit(batch([append('s', 0, 'a')])));
  await log.close();
});

test('tables of a later release, or of another program, are refused and stay as they are', async () => {
  const address = `${url()}?schema=later`;
  await (await openTestPostgres(address)).close();
  const session = await connect(readAddress(address));
  await session.ask("UPDATE meta SET value = '1000' WHERE key = 'format'");
  await assert.rejects(openTestPostgres(address), /version 1000, this release knows 1/);
  await session.ask('CREATE SCHEMA strange');
  await session.ask('CREATE TABLE strange.events (a int)');
  await session.end();
  await assert.rejects(openTestPostgres(`${url()}?schema=strange`), /tables of another program/);
});

test.run();
