/** Derived rows and what events write to them. Tables belong to sql/rows/tables.ts. */

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
