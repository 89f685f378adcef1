/** A log whose content is tested, on each engine. */
import type { EventLog } from '../../src/store/port/log.ts';
import type { Row } from '../../src/store/port/rows.ts';
import { readAddress } from '../../src/kernel/database-address.ts';
import { openPostgresLog } from '../../src/store/postgres/log.ts';
import { connect } from '../../src/store/postgres/sessions.ts';
import { fakeProjection } from './fake-projection.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { withSchema } from './test-database.ts';
import { withLog } from './with-log.ts';

export interface PayloadLog {
  /** Another one after `reopen`. */
  readonly log: EventLog;
  readonly clock: ManualClock;
  reopen(): Promise<EventLog>;
  /** Asks the tables of the log behind its back. */
  ask(sql: string, params?: Row): Promise<Row[]>;
}

export type LendPayloadLog = (use: (given: PayloadLog) => Promise<void>) => Promise<void>;

/** `of`: what follows FROM. */
export async function countRows({ ask }: PayloadLog, of: string, params?: Row): Promise<number> {
  const [row] = await ask(`SELECT count(*) AS count FROM ${of}`, params);
  return row!['count'] as number;
}

export const onSqlite: LendPayloadLog = (use) =>
  withLog(
    (given) =>
      use({
        get log() {
          return given.log;
        },
        clock: given.clock,
        reopen: () => given.reopen(),
        ask: async (sql, params = {}) => given.behind((db) => db.prepare(sql).all(params) as Row[]),
      }),
    { projection: fakeProjection() },
  );

/** `url`: of a server, whose schemas they are. */
export const onPostgres =
  (url: () => string): LendPayloadLog =>
  (use) =>
    withSchema(url(), async (address) => {
      const clock = createManualClock();
      const open = (): Promise<EventLog> =>
        openPostgresLog({
          ...{ url: address, projection: fakeProjection(), clock },
          onFault(error) {
            throw error;
          },
        });
      let log = await open();
      const behind = await connect(readAddress(address));
      try {
        await use({
          get log() {
            return log;
          },
          clock,
          async reopen() {
            await log.close();
            return (log = await open());
          },
          ask: (sql, params) => behind.ask(sql, params),
        });
      } finally {
        await Promise.all([log.close(), behind.end()]);
      }
    });
