/**
 * Reads the store's items. A2 A filter is part of every query; it is matched against the value with the item's
 * `namespace` and `key` in it. What is expired is not there, whether it was swept or not.
 *
 * A scan may have to look at everything: it goes through the rows in windows, on the thread of searches.
 */
import { parseFilter } from '../../../kernel/filter-syntax.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import { endOfPath, toPath, type Namespace } from '../../../item/namespace.ts';
import { opened, type Cell, type Row, type RowReader } from '../../port/rows.ts';

export interface ItemRecord {
  readonly itemId: string;
  readonly namespace: Namespace;
  readonly key: string;
  /** The value as JSON text: see `valueOf`. */
  readonly data: string;
  /** Microseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
}

export interface ItemPlace {
  readonly itemId: string;
  readonly namespace: Namespace;
  readonly key: string;
}

interface ItemRow extends Row {
  item_id: string;
  namespace: string;
  key: string;
  created_at: number;
  updated_at: number;
  expires_at: number | null;
  data: string;
}

const WINDOW = 1_000;
const VISIBLE = '(expires_at IS NULL OR expires_at > @now)';

/** An SQL expression over `items`, and the values it needs. */
export function allowedBy(filter: Filter | undefined): { sql: string; params: Record<string, Cell> } {
  if (filter === undefined || filter.length === 0) return { sql: '1', params: {} };
  return {
    sql: `(SELECT filter_matches(json_patch(${opened('data')},
             json_object('namespace', json(items.namespace), 'key', items.key)), @access)
           FROM item_values WHERE item_values.item_id = items.item_id)`,
    params: { access: JSON.stringify(filter) },
  };
}

/** Throws for what was not stored by this program. */
export const valueOf = ({ data, itemId }: ItemRecord): JsonObject =>
  fromStored(data, 'value of item', itemId) as JsonObject;

/** Those of the items that are there and allowed, in any order. */
export async function getItems(
  rows: RowReader,
  itemIds: readonly string[],
  now: number,
  filter?: Filter,
): Promise<ItemRecord[]> {
  const allowed = allowedBy(filter);
  return rows
    .all<ItemRow>(
      `SELECT items.*, data FROM items JOIN item_values USING (item_id)
       WHERE item_id IN (SELECT value FROM json_each(@ids)) AND ${VISIBLE} AND ${allowed.sql}`,
      { ids: JSON.stringify(itemIds), now, ...allowed.params },
    )
    .map((row) => ({
      itemId: row.item_id,
      namespace: fromStored(row.namespace, 'namespace of item', row.item_id) as string[],
      key: row.key,
      data: row.data,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      expiresAt: row.expires_at,
    }));
}

export interface ItemScan {
  readonly prefix: Namespace;
  /** A filter over the value; plain values are equal. */
  readonly match?: JsonObject;
  readonly access?: Filter;
  readonly now: number;
}

/** A candidate lies in the namespace and matches; it counts as scanned whether the caller may see it or not. */
export interface Candidate {
  readonly itemId: string;
  readonly allowed: boolean;
}

/** Pages of candidates, the last updated first. */
export async function* scanItems(rows: RowReader, scan: ItemScan): AsyncGenerator<Candidate[]> {
  const { prefix, match, access, now } = scan;
  const path = toPath(prefix);
  const inside = path === '' ? '1' : '(path >= @path AND path < @end)';
  const range = path === '' ? {} : { path, end: endOfPath(path) };
  const matches =
    match === undefined || Object.keys(match).length === 0
      ? { sql: '1', params: {} }
      : {
          sql: `(SELECT filter_matches(data, @match) FROM item_values
                 WHERE item_values.item_id = items.item_id)`,
          params: { match: JSON.stringify(parseFilter(match, 'equal')) },
        };
  const allowed = allowedBy(access);
  const judge = (source: string, more: Record<string, Cell>): Promise<JudgedRow[]> =>
    rows.search<JudgedRow>(
      `SELECT item_id, updated_at,
         CASE WHEN ${inside} AND ${VISIBLE} AND ${matches.sql} THEN 1 + ${allowed.sql} ELSE 0 END AS verdict
       FROM (${source}) AS items ORDER BY updated_at DESC, item_id DESC`,
      { now, ...range, ...matches.params, ...allowed.params, ...more },
    );

  if (path !== '' && (await isNarrow(rows, range))) {
    yield toCandidates(await judge(`SELECT * FROM items INDEXED BY items_by_path WHERE ${inside}`, {}));
    return;
  }
  let last: JudgedRow | undefined;
  do {
    const page = await judge(
      `SELECT * FROM items WHERE (updated_at, item_id) < (@before, @id)
       ORDER BY updated_at DESC, item_id DESC LIMIT ${WINDOW}`,
      { before: last?.updated_at ?? Number.MAX_SAFE_INTEGER, id: last?.item_id ?? '' },
    );
    yield toCandidates(page);
    last = page.length < WINDOW ? undefined : page.at(-1);
  } while (last !== undefined);
}

interface JudgedRow extends Row {
  item_id: string;
  updated_at: number;
  verdict: number;
}

const toCandidates = (page: readonly JudgedRow[]): Candidate[] =>
  page.flatMap(({ item_id, verdict }) =>
    verdict === 0 ? [] : [{ itemId: item_id, allowed: verdict === 2 }],
  );

/** Few enough to be sorted at once; the others are walked through in their order of update. */
async function isNarrow(rows: RowReader, range: Record<string, Cell>): Promise<boolean> {
  const [row] = await rows.search<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM items WHERE path >= @path AND path < @end LIMIT ${WINDOW + 1})`,
    range,
  );
  return row!.n <= WINDOW;
}

/** The vectors of some items, by item. */
export async function getVectors(
  rows: RowReader,
  itemIds: readonly string[],
): Promise<Map<string, string[]>> {
  const vectors = new Map<string, string[]>();
  const found = await rows.search<{ item_id: string; data: string }>(
    `SELECT item_id, data FROM item_vectors WHERE item_id IN (SELECT value FROM json_each(@ids))`,
    { ids: JSON.stringify(itemIds) },
  );
  for (const { item_id, data } of found) vectors.set(item_id, [...(vectors.get(item_id) ?? []), data]);
  return vectors;
}

/** Items whose time is over, the longest over first. */
export async function expiredItems(rows: RowReader, now: number, limit: number): Promise<ItemPlace[]> {
  return rows
    .all<{ item_id: string; namespace: string; key: string }>(
      'SELECT item_id, namespace, key FROM items WHERE expires_at <= @now ORDER BY expires_at LIMIT @limit',
      { now, limit },
    )
    .map(({ item_id, namespace, key }) => ({
      itemId: item_id,
      namespace: fromStored(namespace, 'namespace of item', item_id) as string[],
      key,
    }));
}

/** When the store was written last, microseconds since 1970. */
export const lastItemUpdate = (rows: RowReader): number =>
  rows.get<{ at: number | null }>('SELECT max(updated_at) AS at FROM items')?.at ?? 0;
