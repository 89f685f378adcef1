/** Connections to a database: how they are made, and what each runs. */
import pg from 'pg';
import { systemClock } from '../../kernel/clock.ts';
import { within } from '../../kernel/within.ts';
import type { Row } from '../port/rows.ts';
import type { Params } from '../sql/ask.ts';
import { ask, type StepParams, type Work } from '../sql/work.ts';
import type { Address } from '../../kernel/database-address.ts';
import { ConnectionLost, createExchange, type Transaction } from './exchange.ts';
import type { Exchange, Prepared, Wire } from './wire.ts';

/** A connection. */
export interface Session {
  /** Runs work in one transaction. Rejects with what the work throws, `pg.DatabaseError` or `ConnectionLost`. */
  run<T>(work: Work<T>, transaction?: Transaction): Promise<T>;
  /** Runs one statement in a transaction of its own, or in one that an earlier statement began. */
  ask<R extends Row = Row>(sql: string, params?: Params): Promise<R[]>;
  readonly isLost: boolean;
  /** Something between lends it connections to the database. */
  readonly isPooled: boolean;
  onLost(listener: () => void): void;
  /** Hears what other connections say on channels that this one listens on. */
  onNotification(listener: (payload: string) => void): void;
  /** Loses the connection at once, without a word to the server. */
  cut(): void;
  end(): Promise<void>;
}

const CONNECT_MS = 5_000;
/** A server that does not take leave for so long is left. */
const END_MS = 1_000;
/** A server that says nothing for so long is gone. */
const ANSWER_MS = 60_000;
const OLDEST = 150_000;

/** Settings of the server for a connection, as far as its version has them. Its limits are shorter than ours, so that it refuses first. */
const settingsFor = (plans: Plans): Readonly<Record<string, string>> => ({
  ...{ statement_timeout: '50s', lock_timeout: '40s', transaction_timeout: '55s' },
  ...{ idle_in_transaction_session_timeout: '30s', idle_session_timeout: '0', bytea_output: 'hex' },
  ...{ default_transaction_isolation: 'read committed', standard_conforming_strings: 'on' },
  plan_cache_mode: plans === 'keys' ? 'force_generic_plan' : 'auto',
  ...Object.fromEntries(READS_OF_ALL.map((name) => [name, plans === 'keys' ? 'off' : 'on'])),
});
const READS_OF_ALL = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];

/** One statement, because a pooler may refuse parameters at the start of a connection. */
const SETUP = `SELECT pg_is_in_recovery() AS standby, current_setting('server_encoding') AS encoding,
  current_setting('server_version_num')::int AS version, current_setting('server_version') AS said, pg_backend_pid() AS pid,
  (SELECT count(set_config(name, value, false)) FROM unnest($2::text[], $3::text[]) AS own (name, value) JOIN pg_settings USING (name)),
  set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false),
  set_config('search_path', coalesce($1, current_setting('search_path')), false)`;

interface Setup {
  readonly standby: boolean;
  readonly encoding: string;
  readonly version: number;
  readonly said: string;
  readonly pid: number;
}

/** A server that will not do, however often it is asked. */
class Unsuitable extends Error {}

/** None of several hosts will do: `failures` has what each of them said, in their order. */
export class NoHost extends Error {
  readonly failures: readonly Error[];

  constructor(failures: readonly Error[]) {
    super('no host takes writes');
    this.failures = failures;
  }
}

/**
 * `keys`: each row is found by its key, also by statements that were planned while the tables were empty, or that the planner
 * takes for a million rows.
 */
export type Plans = 'keys' | 'any';

/** Connects to the first host that takes writes. Throws what the only host said, or `NoHost`. */
export async function connect({ urls, schema }: Address, plans: Plans = 'keys'): Promise<Session> {
  const failures: Error[] = [];
  for (const url of urls)
    try {
      return await connectTo(url, schema, plans);
    } catch (error) {
      failures.push(error as Error);
    }
  throw failures.length === 1 ? failures[0]! : new NoHost(failures);
}

async function connectTo(
  connectionString: string,
  schema: string | undefined,
  plans: Plans,
): Promise<Session> {
  const client = new pg.Client({
    connectionString,
    ...{ application_name: 'rewound', connectionTimeoutMillis: CONNECT_MS },
    ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
  });
  // A connection that is lost ends what it runs, and nothing else.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const settings = settingsFor(plans);
    const setup = {
      ...{ text: SETUP, values: [schema ?? null, Object.keys(settings), Object.values(settings)] },
      // A pooler lets connect and answers when it has a connection.
      query_timeout: CONNECT_MS,
    };
    const found = await client.query<Setup>(setup);
    const { standby, encoding, version, said, pid } = found.rows[0]!;
    if (version < OLDEST) throw new Unsuitable(`it is PostgreSQL ${said}, 15 or later is needed`);
    if (encoding !== 'UTF8')
      throw new Unsuitable(
        `it is encoded as ${encoding}: create a database with ENCODING 'UTF8' TEMPLATE template0`,
      );
    if (standby) throw new Unsuitable('it is a standby, which takes no writes: name the primary');
    // A pooler answers the start of a connection itself.
    const { processID } = client as unknown as { processID: number };
    return toSession(client, pid !== processID);
  } catch (error) {
    await leave(client);
    throw error;
  }
}

const connectionOf = (client: pg.Client): Wire & NodeJS.EventEmitter =>
  (client as unknown as { connection: Wire & NodeJS.EventEmitter }).connection;

const destroy = (client: pg.Client): void =>
  connectionOf(client).stream.destroy(new Error('it does not answer'));

async function leave(client: pg.Client): Promise<void> {
  await within(
    systemClock(),
    END_MS,
    client.end().catch(() => undefined),
  );
  destroy(client);
}

function toSession(client: pg.Client, isPooled: boolean): Session {
  const prepared: Prepared = { statements: new Map(), demanding: new Map(), count: 0, ids: new Map() };
  const connection = connectionOf(client);
  const { after } = systemClock();
  const listeners: (() => void)[] = [];
  let current: Exchange | undefined;
  let isLost = false;
  connection.on('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) =>
    current?.described(dataTypeIDs),
  );
  connection.on('noData', () => current?.withoutRows());
  client.on('error', () => {
    isLost = true;
  });
  client.on('end', () => {
    isLost = true;
    for (const listener of listeners.splice(0)) listener();
  });

  const begin = <T>(work: Work<T>, transaction: Transaction): Promise<T> =>
    new Promise((resolve, reject) => {
      const ms = transaction === 'open' ? Infinity : ANSWER_MS;
      const cancel = after(ms, () => destroy(client));
      const exchange = createExchange(prepared, work, transaction, (error, value) => {
        cancel();
        if (error instanceof ConnectionLost) isLost = true;
        if (error === undefined) resolve(value as never);
        else reject(error);
      });
      const submit = (wire: Wire): void => {
        current = exchange;
        exchange.submit(wire);
      };
      client.query({ ...exchange, submit } as unknown as pg.Submittable);
    });

  async function run<T>(work: Work<T>, transaction: Transaction = 'alone'): Promise<T> {
    try {
      return await begin(work, transaction);
    } catch (error) {
      // The transaction failed, and is still there.
      if (transaction === 'snapshot' && error instanceof pg.DatabaseError && !isLost)
        await begin(ask('ROLLBACK', {}), 'alone').catch(() => undefined);
      throw error;
    }
  }

  return {
    run,
    ask: <R extends Row>(sql: string, params: Params = {}) => run(ask<R>(sql, params as StepParams)),
    isPooled,
    get isLost() {
      return isLost;
    },
    onLost: (listener) => void listeners.push(listener),
    onNotification: (listener) =>
      void client.on('notification', ({ processId, payload = '' }) => {
        if (processId !== (client as unknown as { processID: number }).processID) listener(payload);
      }),
    cut() {
      isLost = true;
      destroy(client);
    },
    async end() {
      isLost = true;
      await leave(client);
    },
  };
}

/** The database, or the role, has as many connections as it may. */
const CROWDED = '53300';
const UNANSWERED = /^Query read timeout/;
export const isCrowded = (error: unknown): boolean => {
  const { code, message } = error as Error & { code?: string };
  return code === CROWDED || UNANSWERED.test(message);
};

const CONNECTION = /^(?:E[A-Z]+|08\w{3}|57P\w{2}|25006)$/;

/** Whether the database may be there again later, as it is asked now. */
export const isAway = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  error instanceof Unsuitable ||
  (error instanceof NoHost && error.failures.some(isAway)) ||
  isCrowded(error) ||
  (error instanceof Error &&
    (CONNECTION.test((error as { code?: string }).code ?? '') ||
      /^(?:timeout expired|Connection terminated)/.test(error.message)));
