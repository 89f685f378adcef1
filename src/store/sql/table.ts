/** Declarations of tables, of which each engine makes its own. */

/**
 * `content` is what clients and graphs say and may be sealed; ids, times, statuses, names, schedules and metadata are
 * not. An index may hold the beginning of a `long` text alone. `id`: a UUID may be stored as its 16 bytes. `small` takes 32 bits. `pairs` is a set of texts. `order`: the number of
 * the row in the order of writing. `?`: NULL is a value too.
 */
export type ColumnType =
  'text' | 'long' | 'id' | 'integer' | 'small' | 'real' | 'content' | 'pairs' | 'order';

export interface Table {
  /** One column, or several with commas. */
  readonly key: string;
  /** Rows may be long: SQLite keeps them apart from their keys, or a search would read each row that it passes. */
  readonly isLong?: true;
  readonly columns: Readonly<Record<string, ColumnType | `${ColumnType}?`>>;
  /** Several columns with commas. */
  readonly unique?: string;
  /** `isOrdered`: rows that are equal in `on` come in the order of writing. */
  readonly indexes?: Readonly<
    Record<
      string,
      { readonly on: string; readonly where?: string; readonly unique?: true; readonly isOrdered?: true }
    >
  >;
}

export type Tables = Readonly<Record<string, Table>>;

interface Syntax {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** Name of the columns `order`. Undefined: row ids have that order, and only keys are columns of it. */
  readonly order?: string;
  /** What an index holds of a `long` text; all of it by default. */
  readonly beginning?: (column: string) => string;
  /** Follows the columns. */
  readonly options?: string;
}

export const baseOf = (type: string): ColumnType => type.replace('?', '') as ColumnType;

/** Columns of content. */
export const contentOf = ({ columns }: Table): string[] =>
  Object.keys(columns).filter((column) => baseOf(columns[column]!) === 'content');

/** Statements that create a table and its indexes. */
export function toSql(
  name: string,
  table: Table,
  { types, order, beginning = (column) => column, options = '' }: Syntax,
): string[] {
  const { key, columns, unique, indexes = {} } = table;
  const declared = Object.entries(columns).flatMap(([column, type]) => {
    const isOrder = type === 'order';
    if (isOrder && order === undefined && column !== key) return [];
    const nullable = type.endsWith('?') ? '' : ' NOT NULL';
    const primary = column === key ? ' PRIMARY KEY' : '';
    return [`${(isOrder && order) || column} ${types[baseOf(type)]}${nullable}${primary}`];
  });
  if (!(key in columns)) declared.push(`PRIMARY KEY (${key})`);
  if (unique !== undefined) declared.push(`UNIQUE (${unique})`);
  const held = (column: string): string => (columns[column] === 'long' ? beginning(column) : column);
  return [
    `CREATE TABLE ${name} (${declared.join(', ')})${options}`,
    ...Object.entries(indexes).map(([index, { on, where, unique: isUnique, isOrdered }]) => {
      const then = isOrdered && order !== undefined ? `, ${order}` : '';
      return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${index} ON ${name} (${on.split(', ').map(held).join(', ')}${then})${where ? ` WHERE ${where}` : ''}`;
    }),
  ];
}
