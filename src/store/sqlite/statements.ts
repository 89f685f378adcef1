/** Prepares each SQL text once per connection, and has the coder of what the connection's rows hold. */
import { PLAIN, type Coder } from '../sql/coder.ts';
import type { Connection } from './connection.ts';
import { createDriver, type Driver } from './driver.ts';
import type { Statement } from './library.ts';

export interface Prepare {
  (sql: string): Statement;
  readonly coder: Coder;
  readonly driver: Driver;
}

export function createStatements(db: Connection, coder: Coder = PLAIN): Prepare {
  const prepared = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = db.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
  return Object.assign(prepare, { coder, driver: createDriver(prepare, coder) });
}
