/** Questions on a connection of SQLite. Lists are bound as JSON. */
import type { Dialect, Params, Walks } from '../sql/ask.ts';
import type { Cell, Row } from '../port/rows.ts';
import { openCells } from '../sql/coder.ts';
import type { Prepare } from './statements.ts';

const within = (parameter: string): string => `IN (SELECT value FROM json_each(@${parameter}))`;

const DIALECT: Dialect = {
  oneOf: (column, parameter) => `${column} ${within(parameter)}`,
  holders: (parameter) => `SELECT thread_id FROM thread_pairs WHERE pair ${within(parameter)}`,
  holds: (parameter) =>
    `EXISTS (SELECT 1 FROM thread_pairs AS held WHERE held.thread_id = t.thread_id AND held.pair ${within(parameter)})`,
  carries: (parameter) =>
    `EXISTS (SELECT 1 FROM json_each(t.pairs) AS carried WHERE carried.value ${within(parameter)})`,
  bounds: () => '1 = 1',
  order: (column) => column,
  storedId: (column) => `stored_id(${column})`,
};

/** Rows that a question judges between two looks at the time. */
const WINDOW_ROWS = 256;

/** `between` is called before each window. */
export function createAsk(prepare: Prepare, between: () => void = () => undefined): Walks {
  const open = openCells(prepare.coder);
  return {
    dialect: DIALECT,
    all: async <R extends Row>(sql: string, params: Params = {}) =>
      (prepare(sql).all(bind(params)) as R[]).map(open),
    async get<R extends Row>(sql: string, params: Params = {}) {
      const row = prepare(sql).get(bind(params)) as R | undefined;
      return row && open(row);
    },
    async *walk<R extends Row>(sql: string, params: Params = {}) {
      let window: R[] = [];
      for (const row of prepare(sql).iterate(bind(params)) as IterableIterator<R>) {
        if (window.push(open(row)) < WINDOW_ROWS) continue;
        between();
        yield window;
        window = [];
      }
      yield window;
    },
  };
}

const bind = (params: Params): Record<string, Cell> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );
