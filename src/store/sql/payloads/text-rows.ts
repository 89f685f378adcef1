/**
 * Rows of texts, some of which are differences from others of their table: how they are written, read and erased.
 *
 * L3 Before a row goes, those that need it and stay are made whole. S3 Reading a text costs at most twice its length,
 * or `MIN_DEAR`: one that would cost more is stored whole, and others differ from it from then on.
 */
import type { Stored } from '../coder.ts';
import { createAssembler, type TextRow } from '../text-assembly.ts';
import { difference } from '../texts.ts';
import { rows, write as step, type Work, type WorkContext } from '../work.ts';
import { COMMON, namesOf } from './checkpoint-text.ts';
import type { StoredId } from './stored-ids.ts';

export type TextTable = 'texts' | 'frames';

/** A text as the base of others. `cost`: what reading it takes, in UTF-16 units. */
export interface BaseText {
  readonly id: number;
  readonly text: string;
  readonly cost: number;
  /** Of the row: it changes with what the row has. */
  readonly crc: number;
}

/** What a row costs its reader besides its text, in UTF-16 units. */
const ROW = 64;
/** What reading a text may cost, however short it is. */
const MIN_DEAR = 2048;
/** Of a text that several bases are tried for, what has to be left for another one to be worth it. */
const WORTH_ANOTHER = 128;

interface StoredRow {
  readonly id: number;
  readonly bases: string | null;
  readonly size: number;
  readonly data: Stored;
  readonly crc: number;
  readonly kind: string;
  readonly thread: StoredId;
  readonly run: StoredId;
  readonly parent: StoredId | null;
  readonly name: StoredId;
}

const COLUMNS: Readonly<Record<TextTable, string>> = {
  texts: `id, bases, size, data, crc, kind, run, parent, name,
    CASE kind WHEN 'c' THEN (SELECT own.name FROM texts AS own WHERE own.id = texts.thread) END AS thread`,
  frames: 'id, bases, size, data, crc',
};

/**
 * The rows whose ids are listed, and all that their texts are made of, each once. A row of `chain` has the ids of one level, so
 * that a planner expects few.
 */
const chainOf = ({ listed, gathered }: WorkContext, table: TextTable): string => {
  const idsIn = (list: string): string => `SELECT CAST(value AS bigint) FROM ${listed(list)}`;
  return `WITH RECURSIVE chain (ids) AS (
     SELECT @ids
     UNION ALL
     SELECT (SELECT ${gathered('base.value')} FROM ${table} AS own CROSS JOIN ${listed('own.bases')} AS base
             WHERE own.id IN (${idsIn('chain.ids')}))
     FROM chain WHERE chain.ids <> '[]'
   )
   SELECT ${COLUMNS[table]} FROM ${table}
   WHERE id IN (SELECT CAST(each.value AS bigint) FROM chain CROSS JOIN ${listed('chain.ids')} AS each)`;
};

/** What the reader of a checkpoint knows anyway. */
const knownOf = (
  row: Pick<StoredRow, 'thread' | 'run' | 'parent' | 'name'>,
  bases: readonly number[],
): string => (bases.length === 0 ? COMMON + namesOf(row) : namesOf(row));

/** Reads texts of a table. `cost`: of all rows that they are made of, in UTF-16 units. */
function* openTexts(
  context: WorkContext,
  table: TextTable,
  ids: readonly number[],
): Work<ReturnType<typeof createAssembler> & { readonly cost: number; crcOf(id: number): number }> {
  const stored: readonly StoredRow[] = yield rows(chainOf(context, table), { ids: JSON.stringify(ids) });
  let cost = 0;
  const found = new Map<number, TextRow>();
  for (const row of stored) {
    const data = context.coder.open(row.data);
    const own = row.bases === null ? undefined : (JSON.parse(row.bases) as number[]);
    const bases = own && (row.kind === 'c' ? [...own, knownOf(row, own)] : own);
    found.set(row.id, { data, bases, size: bases === undefined ? data.length : row.size });
    cost += ROW + data.length;
  }
  const assembler = createAssembler((id) => {
    const row = found.get(id);
    if (row === undefined) throw new Error(`a text has row ${id} as its delta base, which is gone`);
    return row;
  });
  return { ...assembler, cost, crcOf: (id) => stored.find((row) => row.id === id)!.crc };
}

export interface TextColumns {
  readonly id: number;
  readonly bases: string | null;
  readonly data: Stored;
}

export interface CheckpointRow extends TextColumns {
  readonly thread: number;
  readonly ns: string;
  readonly name: StoredId;
  readonly run: StoredId;
  readonly parent: StoredId | null;
  readonly at: number;
  readonly last_frame: number | null;
}

/** `row`: its columns, as far as the caller has read them. */
export function* readText(
  context: WorkContext,
  table: TextTable,
  { id, bases, data }: TextColumns,
): Work<string> {
  if (bases === null) return context.coder.open(data);
  return (yield* openTexts(context, table, [id])).read(id);
}

/** In the order of the rows, which are read together. */
export function* readTexts(
  context: WorkContext,
  table: TextTable,
  columns: readonly TextColumns[],
): Work<string[]> {
  const ids = columns.flatMap(({ id, bases }) => (bases === null ? [] : [id]));
  const opened = ids.length === 0 ? undefined : yield* openTexts(context, table, ids);
  return columns.map(({ id, bases, data }) => (bases === null ? context.coder.open(data) : opened!.read(id)));
}

export function* loadBase(context: WorkContext, table: TextTable, id: number): Work<BaseText> {
  const { read, cost, crcOf } = yield* openTexts(context, table, [id]);
  return { id, text: read(id), cost, crc: crcOf(id) };
}

export interface Splice {
  readonly head: number;
  readonly start: number;
  readonly kept: number;
  readonly data: string;
}

/** Texts that are differences, each as one stretch of its first base and the rest of it. */
export function* readSplices(
  context: WorkContext,
  table: TextTable,
  ids: readonly number[],
): Work<Map<number, Splice>> {
  if (ids.length === 0) return new Map();
  const { read, stretchOf } = yield* openTexts(context, table, ids);
  return new Map(
    ids.map((id) => {
      const { head, start, kept } = stretchOf(id);
      return [id, { head, start, kept, data: read(id, 0, head) + read(id, head + kept) }];
    }),
  );
}

export interface NewText {
  readonly bases: string | null;
  readonly size: number | null;
  readonly data: Stored;
  readonly crc: number;
  readonly cost: number;
  /** Its bases. */
  readonly used: readonly BaseText[];
}

/**
 * The columns of a new text. `given`: its bases, the one that is most alike first; others serve for what that one leaves.
 * `known`: text that the reader has anyway.
 */
export function encodeText(
  { coder }: WorkContext,
  text: string,
  given: readonly BaseText[] = [],
  known?: string,
): NewText {
  const bases = [...new Set(given)];
  let best: { readonly steps: string; readonly used: readonly BaseText[]; readonly cost: number } | undefined;
  for (const used of bases.length > 1 ? [bases.slice(0, 1), bases] : [bases]) {
    const texts = used.map((base) => base.text);
    const found = difference(known === undefined ? texts : [...texts, known], text);
    if (found === undefined) continue;
    const cost = used.reduce((sum, base) => sum + base.cost, ROW + found.steps.length);
    if (used.length > 0 && cost > Math.max(text.length * 2, MIN_DEAR)) continue;
    best = { steps: found.steps, used, cost };
    if (found.spelled <= WORTH_ANOTHER) break;
  }
  if (best === undefined)
    return { bases: null, size: null, cost: ROW + text.length, used: [], ...coder.columns(text) };
  const { steps, used, cost } = best;
  const ids = JSON.stringify(used.map(({ id }) => id));
  return { bases: ids, size: text.length, cost, used, ...coder.columns(steps) };
}

/** L3 Call before rows of a thread are deleted or replaced. */
export function* makeDependantsWhole(
  context: WorkContext,
  table: TextTable,
  thread: number | StoredId,
  gone: ReadonlySet<number>,
): Work<void> {
  const differing: readonly { id: number; bases: string }[] = yield rows(
    `SELECT id, bases FROM ${table} WHERE thread = ? AND bases IS NOT NULL`,
    [thread],
  );
  for (const { id, bases } of differing)
    if (!gone.has(id) && (JSON.parse(bases) as number[]).some((base) => gone.has(base)))
      yield step(`UPDATE ${table} SET bases = NULL, size = NULL, data = @data, crc = @crc WHERE id = @id`, {
        ...{ id, ...context.coder.columns((yield* openTexts(context, table, [id])).read(id)) },
      });
}

/** Deletes rows of a thread. Those that stay read as before. */
export function* eraseTexts(
  context: WorkContext,
  table: TextTable,
  thread: number | StoredId,
  gone: ReadonlySet<number>,
): Work<void> {
  yield* makeDependantsWhole(context, table, thread, gone);
  yield* dropRows(context, table, gone);
}

export function* dropRows({ listed }: WorkContext, table: string, gone: ReadonlySet<number>): Work<void> {
  if (gone.size > 0)
    yield step(`DELETE FROM ${table} WHERE id IN (SELECT CAST(value AS bigint) FROM ${listed('@ids')})`, {
      ids: JSON.stringify([...gone]),
    });
}
