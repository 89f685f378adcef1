/**
 * Rows of texts, some of which are differences from others of their table: how they are written, read and erased.
 *
 * L3 Before a row goes, those that need it and stay are made whole. S3 Reading a text costs at most twice its length,
 * or `MIN_DEAR`: one that would cost more is stored whole, and others differ from it from then on.
 */
import { createAssembler, type TextRow } from '../../sql/text-assembly.ts';
import { difference } from '../../sql/texts.ts';
import type { Stored } from '../../sql/coder.ts';
import type { Prepare } from '../statements.ts';
import { COMMON, namesOf } from './checkpoint-text.ts';
import type { StoredId } from './tables.ts';

export type TextTable = 'texts' | 'frames';

/** A text as the base of others. `cost`: what reading it takes, in UTF-16 units. */
export interface BaseText {
  readonly id: number;
  readonly text: string;
  readonly cost: number;
}

/** What a row costs its reader besides its text, in UTF-16 units. */
const ROW = 64;
/** What reading a text may cost, however short it is. */
const MIN_DEAR = 2048;
/** Of a text that several bases are tried for, what has to be left for another one to be worth it. */
const WORTH_ANOTHER = 128;

interface StoredRow {
  readonly bases: string | null;
  readonly size: number;
  readonly data: Stored;
  readonly kind: string;
  readonly thread: StoredId;
  readonly run: StoredId;
  readonly parent: StoredId | null;
  readonly name: StoredId;
}

const COLUMNS: Readonly<Record<TextTable, string>> = {
  texts: `bases, size, data, kind, run, parent, name,
    iif(kind = 'c', (SELECT own.name FROM texts AS own WHERE own.id = texts.thread), NULL) AS thread`,
  frames: 'bases, size, data',
};

/** What the reader of a checkpoint knows anyway. */
const knownOf = (
  row: Pick<StoredRow, 'thread' | 'run' | 'parent' | 'name'>,
  bases: readonly number[],
): string => (bases.length === 0 ? COMMON + namesOf(row) : namesOf(row));

/** Reads texts of a table; every row once. `cost`: of all that were read, in UTF-16 units. */
function openTexts(prepare: Prepare, table: TextTable) {
  const rows = new Map<number, TextRow>();
  let cost = 0;
  const select = prepare(`SELECT ${COLUMNS[table]} FROM ${table} WHERE id = ?`);
  function find(id: number): TextRow {
    const known = rows.get(id);
    if (known !== undefined) return known;
    const found = select.get(id) as StoredRow | undefined;
    if (found === undefined) throw new Error(`a text has row ${id} as its delta base, which is gone`);
    const data = prepare.coder.open(found.data);
    const ids = found.bases === null ? undefined : (JSON.parse(found.bases) as number[]);
    const bases = ids && (found.kind === 'c' ? [...ids, knownOf(found, ids)] : ids);
    const row = { data, bases, size: bases === undefined ? data.length : found.size };
    rows.set(id, row);
    cost += ROW + data.length;
    return row;
  }
  return { ...createAssembler(find), cost: () => cost };
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
export const readText = (prepare: Prepare, table: TextTable, { id, bases, data }: TextColumns): string =>
  bases === null ? prepare.coder.open(data) : openTexts(prepare, table).read(id);

export function loadBase(prepare: Prepare, table: TextTable, id: number): BaseText {
  const { read, cost } = openTexts(prepare, table);
  return { id, text: read(id), cost: cost() };
}

/** A text that is a difference, as one stretch of its first base and the rest of it. */
export function readSplice(prepare: Prepare, table: TextTable, id: number) {
  const { read, stretchOf } = openTexts(prepare, table);
  const { head, start, kept } = stretchOf(id);
  return { head, start, kept, data: read(id, 0, head) + read(id, head + kept) };
}

export interface NewText {
  readonly bases: string | null;
  readonly size: number | null;
  readonly data: Stored;
  readonly crc: number;
  readonly cost: number;
}

/**
 * The columns of a new text. `given`: its bases, the one that is most alike first; others serve for what that one leaves.
 * `known`: text that the reader has anyway.
 */
export function encodeText(
  prepare: Prepare,
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
    return { bases: null, size: null, cost: ROW + text.length, ...prepare.coder.columns(text) };
  const { steps, used, cost } = best;
  const ids = JSON.stringify(used.map(({ id }) => id));
  return { bases: ids, size: text.length, cost, ...prepare.coder.columns(steps) };
}

/** L3 Call before rows of a thread are deleted or replaced. */
export function makeDependantsWhole(
  prepare: Prepare,
  table: TextTable,
  thread: number | StoredId,
  gone: ReadonlySet<number>,
): void {
  const rows = prepare(`SELECT id, bases, data FROM ${table} WHERE thread = ? AND bases IS NOT NULL`);
  const update = prepare(
    `UPDATE ${table} SET bases = NULL, size = NULL, data = @data, crc = @crc WHERE id = @id`,
  );
  for (const row of rows.all(thread) as TextColumns[]) {
    const bases = JSON.parse(row.bases!) as number[];
    if (!gone.has(row.id) && bases.some((base) => gone.has(base)))
      update.run({ id: row.id, ...prepare.coder.columns(readText(prepare, table, row)) });
  }
}

/** Deletes rows of a thread. Those that stay read as before. */
export function eraseTexts(
  prepare: Prepare,
  table: TextTable,
  thread: number | StoredId,
  gone: ReadonlySet<number>,
): void {
  makeDependantsWhole(prepare, table, thread, gone);
  const drop = prepare(`DELETE FROM ${table} WHERE id = ?`);
  for (const id of gone) drop.run(id);
}
