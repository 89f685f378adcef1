/** Prepares each SQL text once per connection. */
import type { Statement } from 'better-sqlite3';
import type { Connection } from './connection.ts';

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
