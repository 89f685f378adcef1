import type { Cell, Row, RowWrite } from './rows.ts';

export type Cells = Record<string, Cell>;

/** What the events of one stream made of a row. */
export interface FoldedRow {
  readonly table: string;
  /** The column that names the row, and what it says. */
  readonly name: string;
  readonly key: Cell;
  /** Undefined for a row that was dropped. */
  cells: Cells | undefined;
  /** Position of the last event that wrote the row. */
  position: number;
}

/** The rows that the writes of one stream lead to, in memory: a row belongs to one stream (P2). */
export interface RowFold {
  add(write: RowWrite, position: number): void;
  /** Dropped rows included. */
  rows(): Iterable<Readonly<FoldedRow>>;
  clear(): void;
}

/** The first member of each row that is put names the row. */
export function createRowFold(): RowFold {
  const tables = new Map<string, Map<Cell, FoldedRow>>();
  return {
    add(write, position) {
      const { table } = write;
      let rows = tables.get(table);
      if (rows === undefined) tables.set(table, (rows = new Map()));
      if (write.op === 'put' || write.op === 'lift') {
        const [name, key] = Object.entries(write.row)[0]!;
        const cells: Cells = { ...write.row };
        if (write.op === 'lift') {
          const source = tables.get(write.from)?.get(Object.values(write.key)[0]!)?.cells;
          if (source === undefined) return;
          copyColumns(cells, source, write.copy);
        }
        rows.set(key, { table, name, key, cells, position });
        return;
      }
      const [name, key] = Object.entries(write.key)[0]!;
      const named = rows.get(key);
      // Another column selects rows that it does not name.
      for (const row of named?.name === name ? [named] : rows.values()) {
        if (row.cells === undefined || !matches(row.cells, write.key)) continue;
        if (write.op === 'set') changeRow(row.cells, write);
        else row.cells = undefined;
        row.position = position;
      }
    },
    *rows() {
      for (const rows of tables.values()) yield* rows.values();
    },
    clear: () => tables.clear(),
  };
}

/** Does what the write says to the row, unless its key is another one's. */
export function changeRow(cells: Cells, { key, set, copy }: Extract<RowWrite, { op: 'set' }>): void {
  if (!matches(cells, key)) return;
  const before = copy === undefined ? cells : { ...cells };
  for (const name in set) cells[name] = set[name]!;
  if (copy !== undefined) copyColumns(cells, before, copy);
}

function copyColumns(cells: Cells, from: Row, copy: Readonly<Record<string, string>>): void {
  for (const name in copy) cells[name] = from[copy[name]!]!;
}

export function matches(row: Row, key: Row): boolean {
  for (const name in key) if (row[name] !== key[name]) return false;
  return true;
}
