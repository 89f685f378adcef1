/**
 * Compares each row of content with its checksum, so that a bit which flipped on the disk is found and named. Derived
 * rows and snapshots have none: they are compared with what the events lead to.
 */
import { KINDS, type Kind } from '../../port/kinds.ts';
import type { Finding } from '../../port/past.ts';
import { checksumOf, type Stored } from '../coder.ts';
import { toId } from '../payloads/stored-ids.ts';
import { rows, type Work, type WorkContext } from '../work.ts';

type Row = Readonly<Record<string, Stored | number | null>>;

/** The columns that name a row, each with a value below all others. */
const keysOf = ({
  order,
}: WorkContext): Readonly<Record<string, Readonly<Record<string, string | number>>>> => ({
  events: { position: 0 },
  texts: { id: 0 },
  frames: { id: 0 },
  run_contents: { [order]: 0 },
  resume_calls: { seq: 0 },
  secrets: { run_id: '' },
  cron_secrets: { cron_id: '' },
  bodies: { delivery_id: '' },
  item_values: { item_id: '' },
  item_vectors: { item_id: '', idx: -1 },
});

/** Every table that has content, once. */
export const CONTENT_TABLES: readonly string[] = [
  ...new Set(['events', ...Object.values(KINDS).map(({ table }) => table)]),
];

export const isSecretTable = (table: string): boolean =>
  Object.values<Kind>(KINDS).some((kind) => kind.table === table && kind.isSecret);

/** Rows that are read at once; a longer one is read by itself. */
const PAGE_ROWS = 256;
const MAX_PAGED_BYTES = 16_384;

/** The first row of the table that is not what was written. */
export function* findBadRow(context: WorkContext, table: string): Work<Finding | undefined> {
  const key = keysOf(context)[table]!;
  const columns = Object.keys(key);
  const names = columns.join();
  const places = columns.map(() => '?').join();
  const bytes = context.bytes('data');
  const page = `SELECT ${names}, crc, CASE WHEN octet_length(data) <= ${MAX_PAGED_BYTES} THEN ${bytes} END AS bytes
    FROM ${table} WHERE (${names}) > (${places}) ORDER BY ${names} LIMIT ${PAGE_ROWS}`;
  const whole = `SELECT ${bytes} AS bytes FROM ${table} WHERE (${names}) = (${places})`;
  const keyOf = (row: Row): (string | number)[] => columns.map((name) => row[name] as string | number);
  for (let after = Object.values(key); ;) {
    const found: Row[] = yield rows(page, after);
    for (const row of found) {
      const [{ bytes: stored }]: [Row] = row['bytes'] === null ? yield rows(whole, keyOf(row)) : [row];
      if (checksumOf(stored as Stored) === row['crc']) continue;
      const [bad]: [Row] = yield rows(`SELECT * FROM ${table} WHERE (${names}) = (${places})`, keyOf(row));
      const title = yield* titleOf(context, table, bad);
      const position = table === 'events' ? (bad['position'] as number) : undefined;
      return { position, problem: `${title}: its checksum is not that of its content` };
    }
    if (found.length < PAGE_ROWS) return undefined;
    after = keyOf(found.at(-1)!);
  }
}

export function* findBadChecksum(context: WorkContext): Work<Finding | undefined> {
  for (const table of CONTENT_TABLES) {
    const finding = yield* findBadRow(context, table);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

/** Selects the id of a row's thread, where that is not in the row itself. */
const THREADS: Readonly<Record<string, { readonly sql: string; readonly by: string }>> = {
  texts: { sql: 'SELECT name AS id FROM texts WHERE id = ?', by: 'thread' },
  frames: { sql: 'SELECT thread AS id FROM frames WHERE run = ? AND first = 0', by: 'run' },
};

function* titleOf({ order }: WorkContext, table: string, row: Row): Work<string> {
  const kind = Object.values<Kind>(KINDS).find(
    ({ table: of, rows: own = {} }) =>
      of === table && Object.entries(own).every(([column, value]) => row[column] === value),
  );
  const place = THREADS[table];
  const found: Row[] = place === undefined ? [] : yield rows(place.sql, [row[place.by] as Stored]);
  const named: Row = { id: row[order]!, ...row, ...(place && { thread: found[0]?.['id'] ?? null }) };
  const title = kind?.title ?? (table === 'events' ? EVENT : `row {id} of ${table}`);
  return title.replace(/\{(\w+)\}/g, (_, column: string) => {
    const cell = named[column] ?? '?';
    return typeof cell === 'number' ? String(cell) : toId(cell);
  });
}

const EVENT = 'stream {stream}: event {version} ({type})';
