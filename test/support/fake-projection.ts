import type { Recorded } from '../../src/store/port/events.ts';
import type { RowWrite } from '../../src/store/port/rows.ts';
import type { Projection } from '../../src/store/sql/projection.ts';

export interface FakeProjectionOptions {
  readonly version?: string;
  /** What the row of a fact says. */
  readonly say?: (event: Recorded) => string;
}

/** Two small tables that use every kind of row write: one row for each fact, and one for each living stream. */
export function fakeProjection({ version = '1', say = sayData }: FakeProjectionOptions = {}): Projection {
  return {
    version,
    tables: ['facts', 'streams'],
    ddl: `
      CREATE TABLE facts (id TEXT PRIMARY KEY, position INTEGER NOT NULL, says TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE streams (stream TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
    project(event) {
      const { stream, version: at, position } = event.meta;
      const row: RowWrite = {
        op: 'put',
        table: 'facts',
        row: { id: `${stream}#${at}`, position, says: say(event) },
      };
      if (event.type === 'ThreadDeleted') return [row, { op: 'drop', table: 'streams', key: { stream } }];
      return [
        row,
        at === 1
          ? { op: 'put', table: 'streams', row: { stream, version: at } }
          : { op: 'set', table: 'streams', key: { stream }, set: { version: at } },
      ];
    },
  };
}

const sayData = ({ type, data }: Recorded): string => `${type} ${JSON.stringify(data)}`;
