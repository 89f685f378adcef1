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

/** Writes the batch's events and snapshots behind the position `head`. Versions were checked by the caller. */
export function appendEvents(prepare: Prepare, batch: Batch, at: number, head: number): Recorded[] {
  const { commandId, by } = batch;
  const recorded: Recorded[] = [];
  let position = head;
  for (const { stream, expected, events, times, snapshot } of batch.appends) {
    for (const [index, event] of events.entries()) {
      position += 1;
      const version = expected + index + 1;
      const { type } = event;
      const data = by === undefined ? event.data : { ...event.data, by };
      const meta = { position, stream, version, at: times?.[index] ?? at, commandId };
      const fact = { type, data, meta } as Recorded;
      insertEvent(prepare, fact);
      recorded.push(fact);
    }
    if (snapshot !== undefined)
      prepare('INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)').run(
        stream,
        expected + events.length,
        prepare.coder.seal(JSON.stringify(snapshot)),
      );
  }
  if (recorded.length > 0 && batch.repeatable) {
    prepare('INSERT INTO commands VALUES (?, ?, ?, ?)').run(
      batch.commandId,
      recorded[0]!.meta.position,
      position,
      at,
    );
  }
  return recorded;
}

function insertEvent(prepare: Prepare, { type, data, meta }: Recorded): void {
  const { position, stream, version, at, commandId } = meta;
  const schema = schemaVersionOf(type, upcasters);
  const { data: stored, crc } = prepare.coder.columns(JSON.stringify(data));
  const values = [position, stream, version, type, schema, stored, crc, at, commandId];
  prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)').run(values);
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

/** Hands over all events in order. Only one at a time is parsed, so that what is dropped at once is never moved in memory. */
export function eachEvent(prepare: Prepare, take: (event: Recorded) => void): void {
  const where = 'position > ? ORDER BY position LIMIT ?';
  const read = toRecorded(prepare);
  for (let done = 0; ;) {
    const rows = readRows(prepare, where, done, PAGE);
    for (const row of rows) take(read(row));
    if (rows.length < PAGE) return;
    done = rows.at(-1)![0];
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
