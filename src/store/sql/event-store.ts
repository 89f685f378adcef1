/** Event rows: appending inside a transaction, reading with upcasting. */
import type { JsonObject } from '../../kernel/json.ts';
import { fromStored } from '../../kernel/stored-json.ts';
import type { ThreadEvent } from '../../thread/events.ts';
import { redact } from '../../thread/redact.ts';
import { schemaVersionOf } from '../../thread/upcast.ts';
import { knownType, readData, UnreadableEvent, upcasters, type Recorded } from '../port/events.ts';
import type { Append, Batch, Moved, Receipt, Snapshot } from '../port/log.ts';
import type { Coder, Stored } from './coder.ts';
import { Refused } from './refused.ts';
import {
  newIds,
  rows,
  some,
  write,
  type Step,
  type StepParams,
  type Work,
  type WorkContext,
} from './work.ts';

const COLUMNS = 'position, stream, version, type, schema, data, at, command_id';

export interface EventRow {
  readonly position: number;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly schema: number;
  readonly data: Stored;
  readonly at: number;
  readonly command_id: string;
}

/** How many texts of events are held at once while all are read. */
const PAGE = 500;

/** A purge spares the tombstone, which comes after all it purges, so the highest row is the highest ever given. */
export function* headPosition(): Work<number> {
  const [row]: { position: number }[] = yield rows(
    'SELECT coalesce(max(position), 0) AS position FROM events',
    [],
  );
  return row!.position;
}

export function* streamVersion(stream: string): Work<number> {
  const [row]: { version: number }[] = yield rows(
    'SELECT coalesce(max(version), 0) AS version FROM events WHERE stream = ?',
    [stream],
  );
  return row!.version;
}

const conflict = (stream: string): Refused => new Refused({ kind: 'version-conflict', stream });

const IS_AT = '(SELECT coalesce(max(version), 0) FROM events WHERE stream = ?) = ?';

/** L2 Refuses the batch when the stream is at another version; it stays at this one until the commit. */
export function* guardVersion({ shared }: WorkContext, { stream, expected }: Append): Work<void> {
  const refusal = (): Refused => conflict(stream);
  if (shared === undefined) {
    yield some(`SELECT 1 WHERE ${IS_AT}`, [stream, expected], refusal);
    return;
  }
  // The next version's key is taken and given back: an append waits for the commit, as this one does for an append.
  const position: number = yield newIds('events');
  yield some(
    `INSERT INTO events SELECT ?, ?, ?, '', 0, '', 0, 0, '' WHERE ${IS_AT} ON CONFLICT DO NOTHING`,
    [position, stream, expected + 1, stream, expected],
    refusal,
  );
  yield write('DELETE FROM events WHERE position = ?', [position]);
}

/** The batch's events as they will be read, from the position `first` on. */
export function recordEvents({ commandId, by, appends }: Batch, at: number, first: number): Recorded[] {
  let next = first;
  return appends.flatMap(({ stream, expected, events, times }) =>
    events.map(({ type, data }, index) => {
      const position = next++;
      const meta = { position, stream, version: expected + index + 1, at: times?.[index] ?? at, commandId };
      return { type, data: by === undefined ? data : { ...data, by }, meta } as Recorded;
    }),
  );
}

/** Events of one stream that a statement writes behind another one. */
const MAX_FOLLOWING = 32;

/**
 * An event that follows the `expected` one, or none, itself or behind others of its batch, which a statement for many may write
 * before or with it. For an `EXISTS` PostgreSQL may hash all events; `max(version)` takes SQLite ten times as long.
 */
const APPEND = `INSERT INTO events SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?
  WHERE CASE WHEN ? = 0 THEN (SELECT 1 FROM events WHERE stream = ? AND version >= ? LIMIT 1) IS NULL
    ELSE (SELECT 1 FROM events WHERE stream = ? AND version = ?) IS NOT NULL END ON CONFLICT DO NOTHING`;

/**
 * L2 Writes events, of which each follows the latest one of its stream: the statement itself looks, once for events in a
 * row.
 */
export function* insertEvents({ coder, shared }: WorkContext, events: readonly Recorded[]): Work<void> {
  for (let at = 0; at < events.length;) {
    const { stream, version } = events[at]!.meta;
    const expected = version - 1;
    const refusal = (): Refused => conflict(stream);
    const append = (event: Recorded): Step => {
      const cells = [...cellsOf(coder, event), expected, stream, event.meta.version, stream, expected];
      return { ...some(APPEND, cells, refusal, [rowOf(event)]), reads: [versionRow(stream, expected)] };
    };
    const from = at;
    for (at += 1; at < events.length && follows(events[at - 1]!, events[at]!);) at += 1;
    yield append(events[from]!);
    for (let next = from + 1; next < at;) {
      // Another engine makes one statement of the same ones.
      if (shared !== undefined) yield append(events[next++]!);
      else {
        const following = events.slice(next, Math.min((next += MAX_FOLLOWING), at));
        yield write(
          `INSERT INTO events VALUES ${following.map(() => PLACES).join()}`,
          following.flatMap((each) => cellsOf(coder, each)),
        );
      }
    }
  }
}

/** As steps name it. */
export const versionRow = (stream: string, version: number): string => `events ${stream} ${version}`;
const rowOf = ({ meta: { stream, version } }: Recorded): string => versionRow(stream, version);
const follows = ({ meta: before }: Recorded, { meta }: Recorded): boolean =>
  meta.stream === before.stream && meta.version === before.version + 1;

const PLACES = '(?, ?, ?, ?, ?, ?, ?, ?, ?)';

function cellsOf(
  coder: Coder,
  { type, data, meta: { position, stream, version, at, commandId } }: Recorded,
): (Stored | number)[] {
  const { data: stored, crc } = coder.columns(JSON.stringify(data));
  return [position, stream, version, type, schemaVersionOf(type, upcasters), stored, crc, at, commandId];
}

/** Fails where an event has the position, or the stream and version, of one that is there. */
export function* writeMoved({ coder }: WorkContext, { events, receipts }: Moved): Work<void> {
  for (let at = 0; at < events.length; at += MAX_FOLLOWING) {
    const some = events.slice(at, at + MAX_FOLLOWING);
    yield write(
      `INSERT INTO events VALUES ${some.map(() => PLACES).join()}`,
      some.flatMap((event) => cellsOf(coder, event)),
    );
  }
  for (const { commandId, first, last, at } of receipts)
    yield write('INSERT INTO commands VALUES (?, ?, ?, ?)', [commandId, first, last, at]);
}

/** Writes the snapshots of the batch's streams and, for a batch that may be repeated, its receipt. */
export function* writeReceipt(
  { coder }: WorkContext,
  batch: Batch,
  events: readonly Recorded[],
  at: number,
): Work<void> {
  for (const { stream, expected, events: own, snapshot } of batch.appends)
    if (snapshot !== undefined)
      yield write(
        `INSERT INTO snapshots VALUES (?, ?, ?)
         ON CONFLICT (stream) DO UPDATE SET version = excluded.version, state = excluded.state`,
        [stream, expected + own.length, coder.seal(JSON.stringify(snapshot))],
        [`snapshots ${stream}`],
      );
  if (events.length === 0 || !batch.repeatable) return;
  const [first, last] = [events[0]!.meta.position, events.at(-1)!.meta.position];
  const { commandId } = batch;
  yield write(
    'INSERT INTO commands VALUES (?, ?, ?, ?)',
    [commandId, first, last, at],
    [`commands ${commandId}`],
  );
}

/** L4: what a repeated command id is answered with. */
export function* findReceipt(context: WorkContext, commandId: string): Work<Receipt | undefined> {
  const [row]: { first: number; last: number; at: number }[] = yield rows(
    'SELECT first, last, at FROM commands WHERE command_id = ?',
    [commandId],
  );
  if (row === undefined) return undefined;
  const events = yield* readWhere(context, 'position BETWEEN ? AND ? ORDER BY position', [
    row.first,
    row.last,
  ]);
  return { events, at: row.at };
}

export function* forgetCommands({ before, limit }: { before: number; limit: number }): Work<void> {
  yield write(
    `DELETE FROM commands WHERE command_id IN
       (SELECT command_id FROM commands WHERE at < ? ORDER BY at LIMIT ?)`,
    [before, limit],
  );
  // Each has a command of its age, so they are gone no later than those.
  yield write(
    'DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE at < ? ORDER BY at LIMIT ?)',
    [before, limit],
  );
}

/** Call before the runs' events are purged: these name the commands that created them. */
export function* forgetRequests(
  context: WorkContext,
  stream: string,
  runIds?: readonly string[],
): Work<void> {
  const wanted = runIds && new Set(runIds);
  yield* eachOf(context, stream, function* ({ type, data, meta }) {
    if (type !== 'RunCreated' || wanted?.has(data.runId) === false) return;
    yield write('DELETE FROM requests WHERE key = ?', [meta.commandId]);
    yield write('DELETE FROM commands WHERE command_id = ?', [meta.commandId]);
  });
}

export const readStream = (
  context: WorkContext,
  stream: string,
  from: number,
  limit: number,
): Work<Recorded[]> =>
  readWhere(context, 'stream = ? AND version >= ? ORDER BY version LIMIT ?', [stream, from, limit]);

export const readAll = (context: WorkContext, after: number, limit: number): Work<Recorded[]> =>
  readWhere(context, 'position > ? ORDER BY position LIMIT ?', [after, limit]);

/**
 * The next events in order of stream and version, at most `PAGE`, none at the end. Parsed one at a time by `toRecorded`,
 * what is dropped at once is never moved in memory.
 */
export function* nextEvents(after: Pick<EventRow, 'stream' | 'version'> | undefined): Work<EventRow[]> {
  const { stream, version } = after ?? { stream: '', version: 0 };
  return yield rows(
    `SELECT ${COLUMNS} FROM events WHERE (stream, version) > (?, ?) ORDER BY stream, version LIMIT ?`,
    [stream, version, PAGE],
  );
}

function* readWhere({ coder }: WorkContext, where: string, params: StepParams): Work<Recorded[]> {
  const found: EventRow[] = yield rows(`SELECT ${COLUMNS} FROM events WHERE ${where}`, params);
  return found.map((row) => toRecorded(coder, row));
}

/** Passes all events of the stream to `take`, in pages. */
function* eachOf(context: WorkContext, stream: string, take: (event: Recorded) => Work<void>): Work<void> {
  for (let from = 1; ;) {
    const page = yield* readStream(context, stream, from, PAGE);
    for (const event of page) yield* take(event);
    if (page.length < PAGE) return;
    from = page.at(-1)!.meta.version + 1;
  }
}

/** Takes the content of runs out of their stream's facts, for good (thread/redact.ts). */
export function* redactRuns(context: WorkContext, stream: string, runIds: readonly string[]): Work<void> {
  const wanted = new Set(runIds);
  yield* eachOf(context, stream, function* (event) {
    const redacted = redact(event as ThreadEvent, wanted);
    if (redacted === event) return;
    const { data, crc } = context.coder.columns(JSON.stringify(redacted.data));
    yield write('UPDATE events SET data = ?, crc = ?, schema = ? WHERE stream = ? AND version = ?', [
      ...[data, crc, schemaVersionOf(event.type, upcasters), stream, event.meta.version],
    ]);
  });
}

export function* loadSnapshot({ coder }: WorkContext, stream: string): Work<Snapshot | undefined> {
  const [row]: { version: number; state: Stored }[] = yield rows(
    'SELECT version, state FROM snapshots WHERE stream = ?',
    [stream],
  );
  if (row === undefined) return undefined;
  const state = fromStored(coder.open(row.state), 'snapshot of', stream) as Snapshot['state'];
  return { version: row.version, state };
}

/** Throws `UnreadableEvent`: a fact that this program does not know stops the reader instead of being skipped. */
export function toRecorded(coder: Coder, row: EventRow): Recorded {
  const { position, stream, version, at, command_id: commandId } = row;
  const type = knownType(row.type);
  if (type === undefined) throw new UnreadableEvent(position, `its type ${row.type} is unknown`);
  let data: JsonObject;
  try {
    data = readData(type, row.schema, fromStored(coder.open(row.data), 'event at', position));
  } catch (error) {
    throw new UnreadableEvent(position, (error as Error).message);
  }
  // The one place where stored text becomes a typed fact: its shape was checked when it was written.
  return { type, data, meta: { position, stream, version, at, commandId } } as unknown as Recorded;
}
