/** Texts of a thread as an export gives them, read in pages: a question for each row costs more than the row. */
import type { SourceText } from '../../port/thread-source.ts';
import { readSplices, readText, readTexts, type TextColumns, type TextTable } from '../payloads/text-rows.ts';
import type { Work, WorkContext } from '../work.ts';
import type { Reading } from './reading.ts';

export type Reader = Pick<Reading, 'context' | 'run'>;

export const wholeText = (data: string): SourceText => ({ data, whole: async () => data });

/** Rows that are read at once, and what their texts may have together in whole, in bytes. One of them may have more. */
const MAX_PAGE_ROWS = 64;
const MAX_PAGE_BYTES = 2 ** 20;

/** Row ids in an order, and the bytes that each stands for. A row of which only the bytes count has no id. */
export interface Sizes {
  readonly ids: Float64Array;
  readonly bytes: Float64Array;
}
export const NO_ID = -1;
export const BYTES = 'coalesce(size, octet_length(data))';

export const toSizes = (found: readonly { readonly id: number; readonly bytes: number }[]): Sizes => ({
  ids: Float64Array.from(found, ({ id }) => id),
  bytes: Float64Array.from(found, ({ bytes }) => bytes),
});

export function* pagesOf({ ids, bytes }: Sizes): Generator<number[]> {
  let page: number[] = [];
  let held = 0;
  for (const [index, id] of ids.entries()) {
    if (id !== NO_ID && page.length > 0 && (page.length >= MAX_PAGE_ROWS || held >= MAX_PAGE_BYTES)) {
      yield page;
      [page, held] = [[], 0];
    }
    if (id !== NO_ID) page.push(id);
    held += bytes[index]!;
  }
  if (page.length > 0) yield page;
}

export const among = ({ listed }: WorkContext, column: string): string =>
  `${column} IN (SELECT CAST(value AS bigint) FROM ${listed('@ids')})`;

/**
 * Texts of rows, in their order, which others may have as their base. `isSpliced`: a difference is given as a stretch of its
 * first base.
 */
export function* sourceTexts<R extends TextColumns>(
  { context, run }: Reader,
  table: TextTable,
  found: readonly R[],
  isSpliced: (row: R, base: number) => boolean,
): Work<SourceText[]> {
  const spliced = new Set(
    found.filter((row) => {
      const base = firstBase(row);
      return base !== undefined && isSpliced(row, base);
    }),
  );
  const whole = found.filter((row) => !spliced.has(row));
  const texts = yield* readTexts(context, table, whole);
  const textOf = new Map(whole.map((row, index) => [row, texts[index]!]));
  const splices = yield* readSplices(
    context,
    table,
    Array.from(spliced, ({ id }) => id),
  );
  return found.map((row) => {
    const key = `${table} ${row.id}`;
    const readWhole = (): Promise<string> => run(readText(context, table, row));
    if (!spliced.has(row)) return { data: textOf.get(row)!, key, whole: readWhole };
    const { data, ...stretch } = splices.get(row.id)!;
    return { data, key, splice: { base: `${table} ${firstBase(row)!}`, ...stretch }, whole: readWhole };
  });
}

export const firstBase = ({ bases }: TextColumns): number | undefined =>
  bases === null ? undefined : (JSON.parse(bases) as number[])[0];
