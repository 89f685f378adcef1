/** Prepares each SQL text once per connection. */
import type { Connection } from './connection.ts';
import type { Statement } from './library.ts';

export type Prepare = (sql: string) => Statement;

export function createStatements(db: Connection): Prepare {
  const prepared = new Map<string, Statement>();
  return (sql) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
}
