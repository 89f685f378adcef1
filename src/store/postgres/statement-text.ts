/** The text of a step as PostgreSQL takes it. */
import pg from 'pg';

/** Parameters as `$n`: a name may stand several times, `?` is another value each time. */
export function numbered(sql: string): { text: string; params: (string | number)[] } {
  const params: (string | number)[] = [];
  const text = sql.replace(/@(\w+)|\?/g, (_, name?: string) => {
    const found = name === undefined ? -1 : params.indexOf(name);
    return `$${found >= 0 ? found + 1 : params.push(name ?? params.length)}`;
  });
  return { text, params };
}

const IF_NEW = /\s+ON CONFLICT DO NOTHING$/;
const GUARDED = /^(INSERT [^]*?\sSELECT )([^,]+)([^]*?)\sWHERE ([^]*)$/;

/**
 * The statement fails when it finds or changes no row, or with `isMany` fewer than it was given: it divides by zero. An insert
 * fails by itself where a row is there, and divides its first value, a number, by its condition.
 */
export function demanding(sql: string, isMany = false): string {
  const found = isMany ? '(count(*) = cardinality($1))::integer' : 'count(*)';
  if (/^\s*SELECT/.test(sql)) return `SELECT 1 / ${found} FROM (${sql}) AS found`;
  if (!sql.startsWith('INSERT')) return `WITH done AS (${sql} RETURNING 1) SELECT 1 / ${found} FROM done`;
  return sql.replace(IF_NEW, '').replace(GUARDED, (_, select, first, others, condition) => {
    return `${select}${first}::bigint / (${condition})::integer${others}`;
  });
}

const { INT8, INT4, FLOAT8, TEXT, BYTEA } = pg.types.builtins;
const LIST = 1009;
const ELEMENTS: ReadonlyMap<number, string> = new Map([
  ...([
    [INT8, 'int8'],
    [INT4, 'int4'],
    [FLOAT8, 'float8'],
    [TEXT, 'text'],
    [BYTEA, 'bytea'],
  ] as const),
  // Lists of lists would have to be of one length.
  [LIST, 'text'],
]);

const JOINS: Readonly<Record<string, string>> = {
  ...{ INSERT: 'FROM', UPDATE: 'FROM', DELETE: 'USING', SELECT: ',' },
};

/** A numbered statement for many rows, each of whose parameters is an array. Undefined for a type that has none here. */
export function forMany(text: string, types: readonly number[]): string | undefined {
  if (!types.every((type) => ELEMENTS.has(type))) return undefined;
  const arrays = types.map((type, at) => `$${at + 1}::${ELEMENTS.get(type)!}[]`);
  const given = `unnest(${arrays.join()}) AS given (${types.map((_, at) => `p${at + 1}`).join()})`;
  const body = text.replace(
    /\$(\d+)/g,
    (_, place: string) => `given.p${place}${types[Number(place) - 1] === LIST ? '::text[]' : ''}`,
  );
  const cells = /VALUES \(([^()]*)\)/.exec(body);
  if (cells !== null) return body.replace(cells[0], () => `SELECT ${cells[1]!} FROM ${given}`);
  const join = JOINS[/[A-Z]+/.exec(text)![0]]!;
  return body.replace(/\bWHERE\b/, () => `${join} ${given} WHERE`);
}
