import type { Recorded } from '../../src/store/port/events.ts';
import type { RowWrite } from '../../src/store/port/rows.ts';
import type { Projection } from '../../src/store/sql/projection.ts';
import type { Tables } from '../../src/store/sql/table.ts';

export interface FakeProjectionOptions {
  readonly version?: string;
  /** What the row of a fact says. */
  readonly say?: (event: Recorded) => string;
}

const TABLES: Tables = {
  facts: { key: 'id', columns: { id: 'text', position: 'integer', says: 'text' } },
  runs: { key: 'run_id', columns: { run_id: 'text', attempt: 'integer', lease_id: 'text?' } },
  streams: { key: 'stream', columns: { stream: 'text', version: 'integer' } },
};

/** Two small tables that use every kind of row write: one row for each fact, and one for each living stream. */
export function fakeProjection({ version = '1', say = sayData }: FakeProjectionOptions = {}): Projection {
  return {
    version,
    schema: TABLES,
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
        ...leaseOf(event),
        at === 1
          ? { op: 'put', table: 'streams', row: { stream, version: at } }
          : { op: 'set', table: 'streams', key: { stream }, set: { version: at } },
      ];
    },
  };
}

/** As the real rows of runs: the lease of the attempt that executes. */
function leaseOf({ type, data }: Recorded): RowWrite[] {
  if (type === 'RunStarted')
    return [
      {
        op: 'put',
        table: 'runs',
        row: { run_id: data.runId, attempt: data.attempt, lease_id: data.leaseId },
      },
    ];
  if (type !== 'RunRequeued') return [];
  return [{ op: 'set', table: 'runs', key: { run_id: data.runId }, set: { lease_id: null } }];
}

const sayData = ({ type, data }: Recorded): string => `${type} ${JSON.stringify(data)}`;
