/** Runs work of the store on a connection, all steps at once. */
import type { Coder } from '../sql/coder.ts';
import type { Step, Work, WorkContext } from '../sql/work.ts';
import type { Statement } from './library.ts';

export interface Driver {
  readonly context: WorkContext;
  run<T>(work: Work<T>): T;
  /** Runs it at once, too. */
  runAsync<T>(work: Work<T>): Promise<T>;
  /** How many statements have changed rows. */
  readonly changed: number;
  /** What was written is undone, all of it or in part. */
  undone(): void;
}

export function createDriver(prepare: (sql: string) => Statement, coder: Coder): Driver {
  /** The highest row id by table: this connection alone writes. */
  const latest = new Map<string, number>();
  let changed = 0;

  function newIds(table: string, count: number): number {
    const top = latest.get(table) ?? topOf(table);
    latest.set(table, top + count);
    return top + 1;
  }

  const topOf = (table: string): number =>
    (prepare(`SELECT max(rowid) AS top FROM ${table}`).get() as { top: number | null }).top ?? 0;

  function change(statement: Statement, params: Step['params']): number {
    const { changes } = statement.run(params);
    if (changes > 0) changed += 1;
    return changes;
  }

  function answer({ want, sql, params, refusal }: Step): unknown {
    if (want === 'ids') return newIds(sql, (params as { count: number }).count);
    const statement = prepare(sql);
    if (want === 'rows') return statement.all(params);
    const found = statement.reader ? statement.all(params).length : change(statement, params);
    if (found === 0 && refusal !== undefined) throw refusal();
    return found;
  }

  function run<T>(work: Work<T>): T {
    let step = work.next();
    while (step.done !== true) step = work.next(answer(step.value) as never);
    return step.value;
  }

  return {
    context: {
      ...{ coder, order: 'id', lockRows: '', takeRows: '' },
      shownId: (column) => `shown_id(${column})`,
      bytes: (column) => `CAST(${column} AS BLOB)`,
      listed: (list) => `json_each(${list})`,
      gathered: (value) => `json_group_array(DISTINCT ${value})`,
    },
    run,
    runAsync: async (work) => run(work),
    get changed() {
      return changed;
    },
    undone: () => latest.clear(),
  };
}
