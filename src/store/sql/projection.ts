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
  /** SQL that does for all rows at once what the triggers of `ddl` do for each. */
  readonly fill?: string;
  project(event: Recorded): readonly RowWrite[];
  /** A `project` that remembers what many events have in common, for whoever has very many. Says the same. */
  projectMany?(): Projection['project'];
}
