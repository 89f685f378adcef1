import type { Recorded } from '../port/events.ts';
import type { RowWrite } from '../port/rows.ts';
import type { Tables } from './table.ts';

/** The derived tables and the one pure function that fills them. */
export interface Projection {
  /** Rows are rebuilt from the log when the stored version differs. */
  readonly version: string;
  readonly schema: Tables;
  /** Makes the statement for a view of them. `nullOf`: NULL of a column's type. */
  readonly view?: (nullOf: (declared: string) => string) => string;
  /** What stands for an index of `pairs` on SQLite. */
  readonly pairs?: PairsIndex;
  /** Rows of one stream only: a row belongs to the stream of the event that made it. */
  project(event: Recorded): readonly RowWrite[];
}

export interface PairsIndex {
  /** Creates tables, and triggers that fill them. */
  readonly ddl: string;
  /** SQL for all rows of each table, in the order in which the tables are to be filled. */
  readonly fill: Readonly<Record<string, string>>;
}
