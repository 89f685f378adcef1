/** Derived rows and what events write to them. Tables belong to sql/rows/tables.ts. */

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** A write that needs no other row. */
export type OwnWrite =
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

export type RowWrite =
  | OwnWrite
  /** Puts `row` with columns of another table's row, which `key` names; `copy` has their names there. */
  | {
      readonly op: 'lift';
      readonly table: string;
      readonly from: 'runs';
      readonly key: Row;
      readonly row: Row;
      readonly copy: Readonly<Record<string, string>>;
    };
