/** The text of a step as PostgreSQL takes it. */

/** Parameters as `$n`: a name may stand several times, `?` is another value each time. */
export function numbered(sql: string): { text: string; params: (string | number)[] } {
  const params: (string | number)[] = [];
  const text = sql.replace(/@(\w+)|\?/g, (_, name?: string) => {
    const found = name === undefined ? -1 : params.indexOf(name);
    return `$${found >= 0 ? found + 1 : params.push(name ?? params.length)}`;
  });
  return { text, params };
}

/** A statement that fails when it finds or changes no row. */
export const demanding = (sql: string): string =>
  /^\s*SELECT/.test(sql)
    ? `SELECT rewound_some(count(*)) FROM (${sql}) AS found`
    : `WITH done AS (${sql} RETURNING 1) SELECT rewound_some(count(*)) FROM done`;
