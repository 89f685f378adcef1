import type { Recorded } from '../port/events.ts';
import type { RowWrite } from '../port/rows.ts';

/** The derived tables and the one pure function that fills them. */
export interface Projection {
  /** Rows are rebuilt from the log when the stored version differs. */
  readonly version: string;
  readonly tables: readonly string[];
  readonly ddl: string;
  /** Columns of content by table, sealed when the log has a key. */
  readonly sealed?: Readonly<Record<string, readonly string[]>>;
  /** SQL for all rows of each table that triggers of `ddl` fill, in the order in which the tables are to be filled. */
  readonly fill?: Readonly<Record<string, string>>;
  /** Rows of one stream only: a row belongs to the stream of the event that made it. */
  project(event: Recorded): readonly RowWrite[];
}
