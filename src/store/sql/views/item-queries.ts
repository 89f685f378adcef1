/** A scan may have to look at everything: it goes through the rows in windows. */
import { parseFilter } from '../../../kernel/filter-syntax.ts';
import { endOfPath, toPath } from '../../../item/namespace.ts';
import type { Candidate, ItemRecord, ItemScan, ItemViews } from '../../port/views/items.ts';
import type { Ask, Points, Scan } from '../ask.ts';
import { passes } from './filters.ts';
import { isAllowed, toPlace, VISIBLE, type PlaceRow } from './item-record.ts';
import { scanNamespaces } from './namespace-queries.ts';

interface ItemRow extends PlaceRow {
  created_at: number;
  updated_at: number;
  expires_at: number | null;
  data: string;
}

const WINDOW_ROWS = 1_000;
export const itemViews = (ask: Ask): ItemViews => ({
  async get(itemIds, now, filter) {
    const sql = `SELECT items.*, data FROM items JOIN item_values ON item_values.item_id = items.item_id
      WHERE ${ask.dialect.oneOf('items.item_id', 'ids')} AND ${VISIBLE}`;
    const found = await ask.all<ItemRow>(sql, { ids: itemIds, now });
    return found.filter((row) => isAllowed(row, filter)).map(toRecord);
  },
  async *scan(scan) {
    let last: Position | undefined;
    do {
      const page = await ask.scan(WINDOW, scan, last);
      yield page.candidates;
      last = page.next;
    } while (last !== undefined);
  },
  namespaces: (search) => scanNamespaces(ask, search),
  vectors: (itemIds) => ask.scan(VECTORS, itemIds),
  async expired(now, limit) {
    const sql = `SELECT item_id, namespace, key FROM items WHERE expires_at <= @now
      ORDER BY expires_at, item_id LIMIT @limit`;
    return (await ask.all<PlaceRow>(sql, { now, limit })).map(toPlace);
  },
  lastUpdate: async () =>
    (await ask.get<{ at: number | null }>('SELECT max(updated_at) AS at FROM items'))?.at ?? 0,
});

const toRecord = (row: ItemRow): ItemRecord => ({
  ...toPlace(row),
  data: row.data,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at,
});

interface Position {
  readonly updatedAt: number;
  readonly itemId: string;
}

interface WindowRow extends PlaceRow {
  updated_at: number;
  inside: number;
  data: string | null;
}

const INSIDE = 'path >= @path AND path < @end';
const within = ({ dialect: { bounds } }: Pick<Ask, 'dialect'>): string =>
  `${bounds('path', '>=', 'path')} AND ${bounds('path', '<=', 'end')} AND ${INSIDE}`;

/** Candidates of the next window behind a position. A namespace with few items is one window. */
export const WINDOW: Scan<
  [ItemScan, Position | undefined],
  { candidates: Candidate[]; next: Position | undefined }
> = {
  name: 'items.window',
  async answer(ask, { prefix, match, access, now }, after) {
    const path = toPath(prefix);
    const range: Readonly<Record<string, string>> = path === '' ? {} : { path, end: endOfPath(path) };
    const inside = path === '' ? '1 = 1' : INSIDE;
    const isNarrow = path !== '' && after === undefined && (await countUpTo(ask, range)) <= WINDOW_ROWS;
    const from = isNarrow
      ? `SELECT * FROM items WHERE ${within(ask)}`
      : `SELECT * FROM items WHERE (updated_at, item_id) < (@before, @id)
         ORDER BY updated_at DESC, item_id DESC LIMIT ${WINDOW_ROWS}`;
    const wanted = parseFilter(match, 'equal');
    const value =
      wanted.length === 0 && (access ?? []).length === 0
        ? 'NULL'
        : '(SELECT data FROM item_values WHERE item_values.item_id = judged.item_id AND inside = 1)';
    const found = await ask.all<WindowRow>(
      `SELECT judged.item_id, namespace, key, updated_at, inside, ${value} AS data
       FROM (SELECT near.*, CASE WHEN ${inside} AND ${VISIBLE} THEN 1 ELSE 0 END AS inside FROM (${from}) AS near) AS judged
       ORDER BY updated_at DESC, judged.item_id DESC`,
      {
        now,
        ...range,
        ...(!isNarrow && { before: after?.updatedAt ?? Number.MAX_SAFE_INTEGER, id: after?.itemId ?? '' }),
      },
    );
    const candidates = found
      .filter((row) => row.inside === 1 && passes(row.data, wanted))
      .map((row) => ({ itemId: row.item_id, allowed: isAllowed(row, access) }));
    const last = isNarrow || found.length < WINDOW_ROWS ? undefined : found.at(-1);
    return { candidates, next: last && { updatedAt: last.updated_at, itemId: last.item_id } };
  },
};

/** Few are sorted at once; the others are walked in their order of update. */
async function countUpTo(ask: Points, range: Readonly<Record<string, string>>): Promise<number> {
  const sql = `SELECT count(*) AS n FROM (
    SELECT 1 FROM items WHERE ${within(ask)} LIMIT ${WINDOW_ROWS + 1}) AS found`;
  return (await ask.get<{ n: number }>(sql, range))!.n;
}

export const VECTORS: Scan<[readonly string[]], Map<string, string[]>> = {
  name: 'items.vectors',
  async answer(ask, itemIds) {
    const vectors = new Map<string, string[]>();
    const found = await ask.all<{ item_id: string; data: string }>(
      `SELECT item_id, data FROM item_vectors WHERE ${ask.dialect.oneOf('item_id', 'ids')} ORDER BY item_id, idx`,
      { ids: itemIds },
    );
    for (const { item_id, data } of found) vectors.set(item_id, [...(vectors.get(item_id) ?? []), data]);
    return vectors;
  },
};
