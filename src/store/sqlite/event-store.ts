/** Event rows: appending inside a transaction, reading with upcasting. */
import type { JsonObject } from '../../kernel/json.ts';
import { fromStored } from '../../kernel/stored-json.ts';
import type { ThreadEvent } from '../../thread/events.ts';
import { redact } from '../../thread/redact.ts';
import { schemaVersionOf } from '../../thread/upcast.ts';
import { knownType, readData, UnreadableEvent, upcasters, type Recorded } from '../port/events.ts';
import type { Stored } from '../sql/coder.ts';

import type { Batch, Receipt, Snapshot } from '../port/log.ts';
import { opened, type Prepare } from './statements.ts';

/** Rows by place and not by name: a rebuild reads millions. */
const COLUMNS = 'position, stream, version, type, schema, data, at, command_id';
type EventRow = readonly [
  position: number,
  stream: string,
  version: number,
  type: string,
  schema: number,
  data: Stored,
  at: number,
  commandId: string,
];

/** The text of an event, for questions about its members. */
const DATA = opened('data');

/** How many texts of events are held at once while all are read. */
const PAGE = 500;

/** A purge spares the tombstone, which comes after all it purges, so the highest row is the highest ever given. */
export function headPosition(prepare: Prepare): number {
  return prepare('SELECT coalesce(max(position), 0) FROM events').pluck().get() as number;
}

export function streamVersion(prepare: Prepare, stream: string): number {
  return prepare('SELECT coalesce(max(version), 0) FROM events WHERE stream = ?')
    .pluck()
    .get(stream) as number;
}

/** The batch's events as they will be read, behind the position `head`. */
export function recordEvents({ commandId, by, appends }: Batch, at: number, head: number): Recorded[] {
  let position = head;
  return appends.flatMap(({ stream, expected, events, times }) =>
    events.map(({ type, data }, index) => {
      position += 1;
      const meta = { position, stream, version: expected + index + 1, at: times?.[index] ?? at, commandId };
      return { type, data: by === undefined ? data : { ...data, by }, meta } as Recorded;
    }),
  );
}

/** Events of one stream that a statement writes behind another one. */
const MAX_FOLLOWING = 32;

/**
 * L2 Writes events, of which each follows the latest one of its stream: the statement itself looks, once for events in a
 * row. Returns the first that does not; those before it are written.
 */
export function insertEvents(prepare: Prepare, events: readonly Recorded[]): Recorded | undefined {
  // A version that does not follow is NULL and so ignored, as one that is taken. `max(version)` takes ten times as long.
  const insert = prepare(
    `INSERT OR IGNORE INTO events VALUES (?, ?,
       iif(iif(? = 1, NOT EXISTS (SELECT 1 FROM events WHERE stream = ?),
         EXISTS (SELECT 1 FROM events WHERE stream = ? AND version = ?)), ?, NULL), ?, ?, ?, ?, ?, ?)`,
  );
  const cellsOf = ({ type, data, meta: { at, commandId } }: Recorded) => {
    const { data: stored, crc } = prepare.coder.columns(JSON.stringify(data));
    return [type, schemaVersionOf(type, upcasters), stored, crc, at, commandId];
  };
  for (let at = 0; at < events.length;) {
    const event = events[at]!;
    const { position, stream, version } = event.meta;
    const guarded = [position, stream, version, stream, stream, version - 1, version];
    if (insert.run([...guarded, ...cellsOf(event)]).changes === 0) return event;
    const following: (Stored | number)[] = [];
    const rows: string[] = [];
    for (at += 1; at < events.length && rows.length < MAX_FOLLOWING; at += 1) {
      const { meta } = events[at]!;
      if (meta.stream !== stream || meta.version !== version + rows.length + 1) break;
      following.push(meta.position, stream, meta.version, ...cellsOf(events[at]!));
      rows.push('(?, ?, ?, ?, ?, ?, ?, ?, ?)');
    }
    if (rows.length > 0) prepare(`INSERT INTO events VALUES ${rows.join()}`).run(following);
  }
  return undefined;
}

/** Writes the snapshots of the batch's streams and, for a batch that may be repeated, its receipt. */
export function writeReceipt(prepare: Prepare, batch: Batch, events: readonly Recorded[], at: number): void {
  for (const {
    stream,
    expected,
    events: { length },
    snapshot,
  } of batch.appends)
    if (snapshot !== undefined)
      prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)').run(
        stream,
        expected + length,
        prepare.coder.seal(JSON.stringify(snapshot)),
      );
  if (events.length === 0 || !batch.repeatable) return;
  const [first, last] = [events[0]!.meta.position, events.at(-1)!.meta.position];
  prepare('INSERT INTO commands VALUES (?, ?, ?, ?)').run(batch.commandId, first, last, at);
}

/** L4: what a repeated command id is answered with. */
export function findReceipt(prepare: Prepare, commandId: string): Receipt | undefined {
  const row = prepare('SELECT first, last, at FROM commands WHERE command_id = ?').get(commandId) as
    { first: number; last: number; at: number } | undefined;
  if (row === undefined) return undefined;
  const rows = readRows(prepare, 'position BETWEEN ? AND ? ORDER BY position', row.first, row.last);
  return { events: rows.map(toRecorded(prepare)), at: row.at };
}

export function forgetCommands(prepare: Prepare, write: { before: number; limit: number }): void {
  const { before, limit } = write;
  prepare(
    `DELETE FROM commands WHERE command_id IN
       (SELECT command_id FROM commands INDEXED BY commands_by_age WHERE at < @before ORDER BY at LIMIT @limit)`,
  ).run({ before, limit });
  // Each has a command of its age, so they are gone no later than those.
  prepare(
    `DELETE FROM requests WHERE key IN
       (SELECT key FROM requests INDEXED BY requests_by_age WHERE at < @before ORDER BY at LIMIT @limit)`,
  ).run({ before, limit });
}

/** Call before the runs' events are purged: these name the commands that created them. */
export function forgetRequests(prepare: Prepare, stream: string, runIds?: readonly string[]): void {
  const which = runIds
    ? `AND json_extract(${DATA}, '$.runId') IN (SELECT value FROM json_each(@runIds))`
    : '';
  const created = `SELECT command_id FROM events WHERE stream = @stream AND type = 'RunCreated' ${which}`;
  const named = runIds ? { stream, runIds: JSON.stringify(runIds) } : { stream };
  prepare(`DELETE FROM requests WHERE key IN (${created})`).run(named);
  prepare(`DELETE FROM commands WHERE command_id IN (${created})`).run(named);
}

export function readStream(prepare: Prepare, stream: string, from: number, limit: number): Recorded[] {
  const where = 'stream = ? AND version >= ? ORDER BY version LIMIT ?';
  return readRows(prepare, where, stream, from, limit).map(toRecorded(prepare));
}

export function readAll(prepare: Prepare, after: number, limit: number): Recorded[] {
  return readRows(prepare, 'position > ? ORDER BY position LIMIT ?', after, limit).map(toRecorded(prepare));
}

/**
 * Passes all events to `take` in order of stream and version, until it returns false; returns whether it never did. Only
 * one event at a time is parsed, so that what is dropped at once is never moved in memory.
 */
export function eachEvent(prepare: Prepare, take: (event: Recorded) => boolean): boolean {
  const where = '(stream, version) > (?, ?) ORDER BY stream, version LIMIT ?';
  const read = toRecorded(prepare);
  for (let after: [string, number] = ['', 0]; ;) {
    const rows = readRows(prepare, where, ...after, PAGE);
    for (const row of rows) if (!take(read(row))) return false;
    if (rows.length < PAGE) return true;
    const [, stream, version] = rows.at(-1)!;
    after = [stream, version];
  }
}

const readRows = (prepare: Prepare, where: string, ...values: (string | number)[]): EventRow[] =>
  prepare(`SELECT ${COLUMNS} FROM events WHERE ${where}`).raw().all(values) as EventRow[];

/** Takes the content of runs out of their stream's facts, for good (thread/redact.ts). */
export function redactRuns(prepare: Prepare, stream: string, runIds: readonly string[]): void {
  const among = 'IN (SELECT value FROM json_each(?))';
  const where = `stream = ? AND (json_extract(${DATA}, '$.runId') ${among} OR json_extract(${DATA}, '$.left.runId') ${among})`;
  const list = JSON.stringify(runIds);
  const wanted = new Set(runIds);
  const read = toRecorded(prepare);
  const update = prepare(
    'UPDATE events SET data = @data, crc = @crc, schema = @schema WHERE position = @position',
  );
  for (const row of readRows(prepare, where, stream, list, list)) {
    const event = read(row);
    const redacted = redact(event as ThreadEvent, wanted);
    if (redacted === event) continue;
    update.run({
      ...prepare.coder.columns(JSON.stringify(redacted.data)),
      schema: schemaVersionOf(event.type, upcasters),
      position: event.meta.position,
    });
  }
}

export function loadSnapshot(prepare: Prepare, stream: string): Snapshot | undefined {
  const row = prepare('SELECT version, state FROM snapshots WHERE stream = ?').get(stream) as
    { version: number; state: Stored } | undefined;
  if (row === undefined) return undefined;
  const state = prepare.coder.open(row.state);
  return { version: row.version, state: fromStored(state, 'snapshot of', stream) as Snapshot['state'] };
}

/** Throws `UnreadableEvent`: a fact that this program does not know stops the reader instead of being skipped. */
const toRecorded =
  (prepare: Prepare) =>
  (row: EventRow): Recorded => {
    const [position, stream, version, stored, schema, text, at, commandId] = row;
    const type = knownType(stored);
    if (type === undefined) throw new UnreadableEvent(position, `its type ${stored} is unknown`);
    let data: JsonObject;
    try {
      data = readData(type, schema, fromStored(prepare.coder.open(text), 'event at', position));
    } catch (error) {
      throw new UnreadableEvent(position, (error as Error).message);
    }
    // The one place where stored text becomes a typed fact: its shape was checked when it was written.
    return {
      type,
      data,
      meta: { position, stream, version, at, commandId },
    } as unknown as Recorded;
  };
