/** The event log in a PostgreSQL database. See port/log.ts for what it keeps. */
import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { EventLog, Notice } from '../port/log.ts';
import type { PayloadReader } from '../port/payloads.ts';
import { createBatchWriter, type PayloadWriter } from '../sql/batch-writer.ts';
import { PLAIN } from '../sql/coder.ts';
import { loadSnapshot, readAll, readStream, streamVersion } from '../sql/event-store.ts';
import type { Projection } from '../sql/projection.ts';
import { SCHEMA, type Table } from '../sql/rows/tables.ts';
import { createViews } from '../sql/views/views.ts';
import type { Work, WorkContext } from '../sql/work.ts';
import { readAddress, type Address } from './address.ts';
import { createAsk } from './ask.ts';
import { prepareSchema } from './schema.ts';
import { connect, createPool, type Session } from './sessions.ts';
import { createWriter } from './writer.ts';

/** Scans may take long; the others are for points. */
const SCAN_SESSIONS = 2;

export interface PostgresLogOptions {
  readonly url: string;
  readonly projection: Projection;
  /** The tables that the projection fills. */
  readonly tables?: Readonly<Record<string, Table>>;
  readonly payloads: {
    readonly writer: (context: WorkContext) => PayloadWriter;
    readonly reader: (context: WorkContext, run: <T>(work: Work<T>) => Promise<T>) => PayloadReader;
  };
  readonly clock: Clock;
  /** Hears what listeners throw; a bad listener cannot hurt the writer. */
  readonly onFault: (error: unknown) => void;
}

/** Opens the log of a database, whose tables are made when there are none. Throws `Unavailable` in one line. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<EventLog> {
  const { projection, tables = SCHEMA, payloads: of, clock, onFault } = options;
  const address = readAddress(options.url);
  await prepare(address, tables);
  const context: WorkContext = { coder: PLAIN, order: 'seq', lockRows: 'FOR SHARE' };
  const points = createPool(address, address.pool - SCAN_SESSIONS);
  const scans = createPool(address, SCAN_SESSIONS);
  const read = <T>(work: Work<T>): Promise<T> => points.lend((session) => session.run(work));
  const committed = new Set<(notice: Notice) => void>();
  const writer = createWriter({
    context,
    batches: createBatchWriter(context, of.writer(context), projection),
    now: clock.now,
    open: () => connect(address),
    announce(notice) {
      for (const listener of [...committed])
        try {
          listener(notice);
        } catch (error) {
          onFault(error);
        }
    },
  });
  const payloads = of.reader(context, read);
  return {
    commit: writer.commit,
    readStream: (stream, from, limit) => read(readStream(context, stream, from, limit)),
    readAll: (after, limit) => read(readAll(context, after, limit)),
    loadSnapshot: (stream) => read(loadSnapshot(context, stream)),
    streamVersion: (stream) => read(streamVersion(stream)),
    onCommitted(listener) {
      committed.add(listener);
      return () => committed.delete(listener);
    },
    // A database that is away comes back: nothing ends the log but its close.
    onPoisoned: () => () => undefined,
    payloads,
    views: createViews(createAsk(points, scans), payloads.containing),
    async close() {
      await writer.drain();
      await writer.stop();
      await Promise.all([points.close(), scans.close()]);
    },
  };
}

async function prepare(address: Address, tables: Readonly<Record<string, Table>>): Promise<void> {
  let session: Session | undefined;
  try {
    session = await connect(address);
    await session.run(prepareSchema(tables, address.schema));
  } catch (error) {
    throw new Unavailable(`${address.shown}: ${reasonOf(error)}`, { cause: error });
  } finally {
    await session?.end();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  '28000': 'there is no such role, or it may not log in: check user and password',
  '28P01': 'the password is refused: check user and password',
  '3D000': 'there is no such database: create it',
  '3F000': 'there is no schema to create tables in: name one with ?schema=NAME',
  '42501': 'the role may not create tables there: grant it CREATE on the schema',
  '25006': 'it takes no writes: name the primary',
  '53300': 'it has no connection left: raise max_connections, or lower ?pool=N',
  ECONNREFUSED: 'nothing answers there: start the database, or check host and port',
  ENOTFOUND: 'there is no such host',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as { code?: string; message: string };
  const reason = REASONS[code] ?? message.split('\n')[0]!;
  return error instanceof pg.DatabaseError && code in REASONS ? `${reason} (${message})` : reason;
}
