/** The event log in a PostgreSQL database. See port/log.ts for what it keeps. */
import { systemClock, type Clock, type FollowingClock } from '../../kernel/clock.ts';
import type { EventLog, Notice } from '../port/log.ts';
import { noticeOf } from '../port/notice.ts';
import { createBatchWriter } from '../sql/batch-writer.ts';
import { openCells } from '../sql/coder.ts';
import { loadSnapshot, readAll, readStream, streamVersion } from '../sql/event-store.ts';
import { openKeyring, type EncryptionKeys, type Keyring } from '../sql/keyring.ts';
import { createListeners } from '../sql/listeners.ts';
import { createHeldTexts } from '../sql/payloads/held-texts.ts';
import { createPayloadReader } from '../sql/payloads/payload-reader.ts';
import { createPayloadWriter } from '../sql/payloads/payload-writer.ts';
import type { Projection } from '../sql/projection.ts';
import { createViews } from '../sql/views/views.ts';
import { unlessAsking, type Work } from '../sql/work.ts';
import { readAddress, type Address } from '../../kernel/database-address.ts';
import { createAsk } from './ask.ts';
import { atDatabase } from './database.ts';
import { lookAt, nextFrames } from './look.ts';
import { joinNodes } from './nodes.ts';
import { createConnections } from './connections.ts';
import { createPool } from './pool.ts';
import { assertUsable } from './usable.ts';
import { unusable } from './reasons.ts';
import { assertRights, prepareSchema, tableBytes } from './schema.ts';
import type { Session } from './sessions.ts';
import { contextOf } from './dialect.ts';
import { openWakeUps } from './wake-ups.ts';
import { createWriter } from './writer.ts';

/** Scans may take long; the others are for points. */
const SCAN_SESSIONS = 2;
/** A log that closes does not wait longer for a database that says nothing. */
const MAX_DRAIN_MS = 5_000;

export interface PostgresLogOptions {
  readonly url: string;
  /** Nodes notify each other at this address; undefined: at `url`. */
  readonly listenUrl?: string | undefined;
  readonly projection: Projection;
  /** Content is sealed under the first one and read under all. */
  readonly keys?: EncryptionKeys;
  /** Follows the database's clock. */
  readonly clock: Clock & Partial<FollowingClock>;
  /** Hears what listeners throw; a bad listener cannot hurt the writer. */
  readonly onFault: (error: unknown) => void;
  /** Hears that the database is away, and that it is back. */
  readonly onWarning?: (text: string) => void;
  /** The tables are those of an import that has begun. */
  readonly isImport?: boolean;
  /** How long a batch that was not sent waits for a database that is away; 10 s by default. */
  readonly maxAwayMs?: number | undefined;
}

/** Opens the log of a database, whose tables are made when there are none. Throws `Unavailable` in one line. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<EventLog> {
  const { projection, keys = [], clock, onFault } = options;
  const address = readAddress(options.url);
  const { coder, place } = await atDatabase(address, async (session) => {
    await assertUsable(address, session);
    const { coder: found } = await session.run(
      prepareLog(projection, address.schema, keys, options.isImport),
    );
    return { coder: found, place: await placeOf(session) };
  });
  const listenTo = await readListenAddress(options.listenUrl, address, place);
  const context = contextOf(coder);
  const connections = createConnections({ address, listenTo, tell: options.onWarning });
  const { open } = connections;
  const points = createPool(open, address.pool - SCAN_SESSIONS);
  const scans = createPool(() => open('any'), SCAN_SESSIONS);
  const read = <T>(work: Work<T>): Promise<T> => points.lend((session) => session.run(work));
  const committed = createListeners<Notice>(onFault);
  let notices = 0;
  const announce = (notice: Omit<Notice, 'count'>): void =>
    committed.tell({ ...notice, count: (notices += 1) });
  const held = createHeldTexts();
  const writer = createWriter({
    context,
    batches: createBatchWriter(context, createPayloadWriter(context, held), projection),
    now: clock.now,
    open,
    ...(options.maxAwayMs !== undefined && { maxAwayMs: options.maxAwayMs }),
    announce(written) {
      const notice = noticeOf(written, 0);
      if (notice.events.length === 0 && notice.frames.size === 0) return;
      const elsewhere = wakeUps.tell(notice);
      announce({ ...notice, ...(elsewhere && { elsewhere }) });
    },
  });
  const readMoment = <T>(work: Work<T>): Promise<T> =>
    unlessAsking(work, (asking) => points.lend((session) => session.run(asking, 'snapshot')));
  const payloads = createPayloadReader(context, readMoment, { held });
  const node = await joinNodes({ url: options.url, clock, run: read }).catch((error: unknown) => {
    throw unusable(address, error);
  });
  // A node that is cut off waits for no answer of a connection that has fallen silent.
  node.nodes.onCutOff(connections.cut);
  const wakeUps = openWakeUps(connections.listen, () => node.nodes.count, {
    look: (threads, runs) => points.lend((session) => lookAt(session, threads, runs)),
    frames: (after) => readMoment(nextFrames(context, after)),
    tell: (elsewhere, frames) => announce({ events: [], frames, untracked: new Map(), elsewhere }),
    onFault,
  });
  return {
    place: address.shown,
    bytes: () => read(tableBytes()),
    commit: writer.commit,
    readStream: (stream, from, limit) => read(readStream(context, stream, from, limit)),
    readAll: (after, limit) => read(readAll(context, after, limit)),
    loadSnapshot: (stream) => read(loadSnapshot(context, stream)),
    streamVersion: (stream) => read(streamVersion(stream)),
    onCommitted: committed.add,
    follow: wakeUps.follow,
    // A database that is away comes back: nothing ends the log but its close.
    onPoisoned: () => () => undefined,
    payloads,
    views: createViews(createAsk(points, scans, openCells(coder)), payloads.containing),
    nodes: node.nodes,
    async close() {
      const cancelCut = systemClock().after(MAX_DRAIN_MS, connections.cut);
      await writer.drain();
      cancelCut();
      await writer.stop();
      await Promise.all([wakeUps.close(), points.close(), scans.close(), node.leave()]);
    },
  };
}

/** Which tables a connection finds, of all databases. */
const PLACE = "SELECT pg_postmaster_start_time()::text || to_regclass('events')::oid AS place";
const placeOf = async (session: Session): Promise<unknown> => (await session.ask(PLACE))[0]!['place'];

/** The address for notifications. Throws `Unavailable` when that is of other tables. */
async function readListenAddress(
  url: string | undefined,
  address: Address,
  place: unknown,
): Promise<Address> {
  if (url === undefined) return address;
  const own = readAddress(url);
  const listenTo = { ...own, schema: address.schema, shown: `PLATFORM_DATABASE_LISTEN_URL: ${own.shown}` };
  await atDatabase(listenTo, async (session) => {
    if ((await placeOf(session)) !== place)
      throw new Error(`expected the tables of ${address.shown}, found others, or none`);
  });
  return listenTo;
}

function* prepareLog(
  projection: Projection,
  schema: string | undefined,
  keys: EncryptionKeys,
  isImport = false,
): Work<Keyring> {
  yield* prepareSchema(projection, schema, isImport);
  yield* assertRights(projection.schema);
  return yield* openKeyring('it', keys, true);
}
