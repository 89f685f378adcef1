/** What a projection asks of the store, and how rows are read back. Tables belong to rows/tables.ts. */
import type { Recorded } from './events.ts';

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

export type RowWrite =
  | { readonly op: 'put'; readonly table: string; readonly row: Row }
  /** `key` names one row, by a unique column. `copy` sets columns to what other columns of the row hold. */
  | {
      readonly op: 'set';
      readonly table: string;
      readonly key: Row;
      readonly set: Row;
      readonly copy?: Readonly<Record<string, string>>;
    }
  | { readonly op: 'drop'; readonly table: string; readonly key: Row };

/** The derived tables and the one pure function that fills them. */
export interface Projection {
  /** Rows are rebuilt from the log when the stored version differs. */
  readonly version: string;
  readonly tables: readonly string[];
  readonly ddl: string;
  /** Columns of content by table, sealed when the log has a key. Queries that look into one use `opened`. */
  readonly sealed?: Readonly<Record<string, readonly string[]>>;
  /** SQL that does for all rows at once what the triggers of `ddl` do for each. */
  readonly fill?: string;
  project(event: Recorded): readonly RowWrite[];
  /** A `project` that remembers what many events have in common, for whoever has very many. Says the same. */
  projectMany?(): Projection['project'];
}

export type Params = Readonly<Record<string, Cell>>;

/**
 * Reads derived rows as of the last commit. `sql` is always a constant of the program; every value is bound.
 *
 * Which one to call: `get` and `all` run on the event loop and hold up everybody, so they are for reads that an index
 * bounds: one row, or a page of rows without a condition that is tried on one candidate after the other. Whatever may
 * look at more rows than it returns (`json_contains`, `filter_matches`, `instr`, `count` over many, a far offset, a
 * sort without an index) goes to `search`, which runs on a thread of its own. When in doubt, `search`.
 */
export interface RowReader {
  all<R extends Row = Row>(sql: string, params?: Params): R[];
  get<R extends Row = Row>(sql: string, params?: Params): R | undefined;
  /** Sees every commit that was acknowledged before the call. Rejects with `SearchRefused`, which clients hear of. */
  search<R extends Row = Row>(sql: string, params?: Params): Promise<R[]>;
}

/** `busy`: too many wait already. `slow`: not done within `limitMs`. `closed`: the log is, or its thread died twice. */
export class SearchRefused extends Error {
  readonly reason: 'busy' | 'slow' | 'closed';
  readonly limitMs: number;
  constructor(reason: SearchRefused['reason'], limitMs: number) {
    super(`search refused: ${reason}`);
    this.name = 'SearchRefused';
    this.reason = reason;
    this.limitMs = limitMs;
  }
}

/** SQL for the text of a column or expression whose content may be sealed. Plain texts cost no call of a function. */
export const opened = (column: string): string =>
  `iif(typeof(${column}) = 'blob', opened(${column}), ${column})`;

/** Functions of SQL that queries rely on, by name: pure, over text. */
export type SqlFunctions = Readonly<Record<string, (a: string | null, b: string | null) => boolean>>;
