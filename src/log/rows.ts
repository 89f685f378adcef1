/** What a projection asks of the store, and how rows are read back. Tables belong to projections/tables.ts. */
import type { Recorded } from './events.ts';

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

export type RowWrite =
  | { readonly op: 'put'; readonly table: string; readonly row: Row }
  | { readonly op: 'set'; readonly table: string; readonly key: Row; readonly set: Row }
  | { readonly op: 'drop'; readonly table: string; readonly key: Row };

/** The derived tables and the one pure function that fills them. */
export interface Projection {
  /** Rows are rebuilt from the log when the stored version differs. */
  readonly version: string;
  readonly tables: readonly string[];
  readonly ddl: string;
  project(event: Recorded): readonly RowWrite[];
}

/** Reads derived rows. `sql` is always a constant of the program; every value is bound. */
export interface RowReader {
  all<R extends Row = Row>(sql: string, params?: Readonly<Record<string, Cell>>): R[];
  get<R extends Row = Row>(sql: string, params?: Readonly<Record<string, Cell>>): R | undefined;
}
