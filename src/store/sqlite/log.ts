/** The event log in one SQLite file. See port/log.ts for what it keeps. */
import { join } from 'node:path';
import { systemClock, type Clock } from '../../kernel/clock.ts';
import { findExposure, isDiskFull, makeFolder, makePrivate, toOpenFailure } from '../port/disk.ts';
import type { EventLog, Notice } from '../port/log.ts';
import { createBatchWriter } from '../sql/batch-writer.ts';
import { headPosition, loadSnapshot, readAll, readStream, streamVersion } from '../sql/event-store.ts';
import type { EncryptionKeys } from '../sql/keyring.ts';
import { createListeners } from '../sql/listeners.ts';
import { createHeldTexts } from '../sql/payloads/held-texts.ts';
import { createHeldValues } from '../sql/payloads/held-values.ts';
import { createPayloadReader } from '../sql/payloads/payload-reader.ts';
import type { Projection } from '../sql/projection.ts';
import { createViews } from '../sql/views/views.ts';
import { createAsk } from './ask.ts';
import { openConnection, type Connection } from './connection.ts';
import { assertComplete, openHeadMark } from './files/high-water-mark.ts';
import { openKeyring } from './keyring.ts';
import { lockDirectory } from './files/lock.ts';
import { createPayloadWriter } from '../sql/payloads/payload-writer.ts';
import { prepareRows } from './rebuild.ts';
import { createReader } from './reader.ts';
import { giveUpReserve, openRoom } from './files/room.ts';
import { prepareSchema } from './schema.ts';
import { sizeOf } from './files/size.ts';
import { createShredder, isLeftBehind } from './files/shredder.ts';
import { createSoleNode } from './sole-node.ts';
import { createStatements } from './statements.ts';
import { createWriter } from './writer.ts';

export const LOG_FILE = 'log.db';

export interface SqliteLogOptions {
  /** The data directory; created when missing, locked until `close`. */
  readonly dir: string;
  readonly projection: Projection;
  /** Content is sealed under the first one and read under all. */
  readonly keys?: EncryptionKeys;
  readonly clock: Clock;
  /** Hears what listeners throw; a bad listener cannot hurt the writer. */
  readonly onFault: (error: unknown) => void;
  /** Hears what somebody should know who keeps the machine. */
  readonly onWarning?: (text: string) => void;
  /** Called when the directory is locked and nothing of it is open. */
  readonly beforeOpen?: () => void;
  /** Called when the tables are there. */
  readonly prepared?: (db: Connection) => void;
}

/**
 * Opens or creates the log of a directory. Throws `DataDirectoryBusy` when another process has it, `LogIncomplete` when a
 * part of it is missing, and `DiskFailed` when nothing can be written there.
 */
export function openSqliteLog(options: SqliteLogOptions): EventLog {
  const { dir } = options;
  try {
    return open(options);
  } catch (error) {
    if (!isDiskFull(error) || !giveUpReserve(join(dir, LOG_FILE))) throw toOpenFailure(dir, error);
  }
  try {
    return open(options);
  } catch (error) {
    throw toOpenFailure(dir, error);
  }
}

function open(options: SqliteLogOptions): EventLog {
  const { dir, projection, keys = [], clock, onFault } = options;
  makeFolder(dir);
  const exposure = findExposure(dir);
  if (exposure !== undefined) options.onWarning?.(exposure);
  const unlock = lockDirectory(dir);
  let opened: Connection | undefined;
  try {
    const file = join(dir, LOG_FILE);
    options.beforeOpen?.();
    assertComplete(file);
    // SQLite gives the files beside it the same mode.
    makePrivate(file);
    const leftBehind = isLeftBehind(file);
    const db = (opened = openConnection(file));
    prepareSchema(db);
    options.prepared?.(db);
    const prepare = createStatements(db, openKeyring(db, keys).coder);
    const { run, runAsync, context } = prepare.driver;
    prepareRows(db, prepare, projection);

    const committed = createListeners<Notice>(onFault);
    const poisoned = createListeners<string>(onFault);
    // How long a thread of the machine may take is the machine's time, whatever moment the log is told that it is.
    const reader = createReader({ file, keys, clock: systemClock() });
    const shredder = createShredder({
      db,
      later: clock.after,
      now: clock.monotonic,
      between: reader.between,
      leftBehind,
      onFault,
    });
    const mark = openHeadMark(file);
    mark.note(run(headPosition()));
    const heldValues = createHeldValues();
    const held = createHeldTexts();
    // Waiting for a lock here would hold up the whole server; the writer waits otherwise.
    db.pragma('busy_timeout = 0');
    const writer = createWriter({
      db,
      prepare,
      batches: createBatchWriter(context, createPayloadWriter(context, held), projection),
      now: clock.now,
      room: openRoom({ file, onWarning: options.onWarning ?? (() => undefined) }),
      committed(batches, head) {
        if (head !== undefined) mark.note(head);
        shredder.note(batches);
        if (batches.some(({ payloads = [] }) => payloads.some(({ kind }) => kind === 'purge-thread')))
          heldValues.forget();
      },
      announce: committed.tell,
      poisoned: poisoned.tell,
      onFault,
    });

    const ask = { ...createAsk(prepare), scan: reader.scan };
    const payloads = createPayloadReader(context, runAsync, { held, heldValues });
    const views = createViews(ask, payloads.containing);
    return {
      place: file,
      bytes: () => sizeOf(dir),
      commit: writer.commit,
      readStream: (stream, from, limit) => runAsync(readStream(context, stream, from, limit)),
      readAll: (after, limit) => runAsync(readAll(context, after, limit)),
      loadSnapshot: (stream) => runAsync(loadSnapshot(context, stream)),
      streamVersion: (stream) => runAsync(streamVersion(stream)),
      onCommitted: committed.add,
      follow: () => () => undefined,
      onPoisoned: poisoned.add,
      payloads,
      views,
      nodes: createSoleNode(views, clock.now),
      async close() {
        await writer.drain();
        writer.stop();
        // Before the connection: the last one to close writes the log back and removes it.
        await reader.close();
        const afterwards = shredder.close();
        mark.remove();
        db.close();
        afterwards();
        unlock();
      },
    };
  } catch (error) {
    opened?.close();
    unlock();
    throw error;
  }
}
