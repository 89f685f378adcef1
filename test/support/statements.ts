/** Watches the SQL statements of every SQLite connection that this process opens. */
import { Database, type Statement } from '../../src/store/sqlite/library.ts';

export interface Executed {
  readonly sql: string;
  readonly db: Database;
  readonly reads: boolean;
}

/** Call it before the log is opened. The returned function sets the listener. */
export function watchStatements(): (listener: ((executed: Executed) => void) | undefined) => void {
  let listen: ((executed: Executed) => void) | undefined;
  const owners = new WeakMap<Statement, Database>();
  const { prepare } = Database.prototype;
  Database.prototype.prepare = function (this: Database, sql: string) {
    const statement = prepare.call(this, sql);
    owners.set(statement, this);
    return statement;
  } as typeof prepare;
  const probe = new Database(':memory:');
  const shared = Object.getPrototypeOf(probe.prepare('SELECT 1')) as Record<
    string,
    (...a: unknown[]) => unknown
  >;
  for (const name of ['run', 'get', 'all', 'iterate']) {
    const original = shared[name]!;
    shared[name] = function (this: Statement, ...values) {
      const db = owners.get(this);
      if (db !== undefined) listen?.({ sql: this.source, db, reads: this.reader });
      return original.apply(this, values);
    };
  }
  probe.close();
  return (listener) => (listen = listener);
}
