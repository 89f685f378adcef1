/** Row writes without their values: few, however many writes there are. */
import type { Cell, Row, RowWrite } from '../port/rows.ts';

/** Names of a table and of its columns, in the order of the values. */
export interface WriteShape {
  readonly op: RowWrite['op'];
  readonly table: string;
  readonly written: readonly string[];
  readonly key: readonly string[];
  readonly copied: readonly string[];
  readonly copies: readonly string[];
}

const EMPTY: Readonly<Record<string, never>> = {};
const writtenBy = (write: RowWrite): Row =>
  write.op === 'put' || write.op === 'lift' ? write.row : write.op === 'set' ? write.set : EMPTY;
const keyOf = (write: RowWrite): Row => (write.op === 'put' ? EMPTY : write.key);
const copyOf = (write: RowWrite): Readonly<Record<string, string>> =>
  (write.op === 'set' || write.op === 'lift' ? write.copy : undefined) ?? EMPTY;

const shapeOf = (write: RowWrite): WriteShape => ({
  op: write.op,
  table: write.table,
  written: Object.keys(writtenBy(write)),
  key: Object.keys(keyOf(write)),
  copied: Object.keys(copyOf(write)),
  copies: Object.values(copyOf(write)),
});

export const cellsOf = (write: RowWrite): Cell[] =>
  write.op === 'put'
    ? Object.values(write.row)
    : [...Object.values(writtenBy(write)), ...Object.values(write.key)];

/** Finds what `make` made of a write's shape when it was first seen: names are compared, no text is built. */
export function createShapes<T>(make: (shape: WriteShape) => T): (write: RowWrite) => T {
  const known = {
    put: new Map<string, { shape: WriteShape; made: T }[]>(),
    set: new Map<string, { shape: WriteShape; made: T }[]>(),
    lift: new Map<string, { shape: WriteShape; made: T }[]>(),
    drop: new Map<string, { shape: WriteShape; made: T }[]>(),
  };
  return (write) => {
    let entries = known[write.op].get(write.table);
    if (entries === undefined) known[write.op].set(write.table, (entries = []));
    for (const { shape, made } of entries) if (isOfShape(shape, write)) return made;
    const shape = shapeOf(write);
    const made = make(shape);
    entries.push({ shape, made });
    return made;
  };
}

const isOfShape = (shape: WriteShape, write: RowWrite): boolean =>
  hasNames(writtenBy(write), shape.written) &&
  hasNames(keyOf(write), shape.key) &&
  hasNames(copyOf(write), shape.copied) &&
  shape.copied.every((name, at) => copyOf(write)[name] === shape.copies[at]);

function hasNames(of: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  let at = 0;
  for (const name in of) if (name !== names[at++]) return false;
  return at === names.length;
}
