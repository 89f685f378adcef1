/**
 * Two nodes on one database, whose transactions meet in the middle: a third connection holds what the first one's last
 * statement needs, until the second one waits too, or is done.
 */
import { randomUUID } from 'node:crypto';
import type { Batch, CommitResult, EventLog } from '../../src/store/port/log.ts';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { readAddress } from '../../src/kernel/database-address.ts';
import { connect } from '../../src/store/postgres/sessions.ts';
import { openTestPostgres } from './postgres.ts';
import { withSchema } from './test-database.ts';
import { until } from './until.ts';

export interface Nodes {
  readonly one: EventLog;
  readonly other: EventLog;
  readonly address: string;
  /** Commits the batch on `one`, holds its transaction before its end, and lets it go when `meanwhile` is done. */
  hold<T>(
    held: Batch,
    meanwhile: () => Promise<T>,
    /** `COMMIT`: the held batch is refused then. */
    end?: 'ROLLBACK' | 'COMMIT',
  ): Promise<readonly [CommitResult | Error, T]>;
  /** Commits the batch on `other`; settles when that waits for a lock. */
  waits(blocked: Batch): Promise<{ readonly result: Promise<CommitResult> }>;
}

export const framesOf = (runId: string, first = 0): PayloadWrite & { kind: 'frames' } => ({
  ...{ kind: 'frames', runId, threadId: 't', first },
  frames: [{ event: 'values', data: '{}' }],
});

/** `url`: of the database. */
export const withTwoNodes = (url: string, use: (nodes: Nodes) => Promise<void>): Promise<void> =>
  withSchema(url, (address) => withNodesAt(address, use));

async function withNodesAt(address: string, use: (nodes: Nodes) => Promise<void>): Promise<void> {
  const [one, other] = [await openTestPostgres(address), await openTestPostgres(address)];
  const third = await connect(readAddress(address));
  // A transaction sees the activity of its begin.
  const observer = await connect(readAddress(address));
  const waiting = async (): Promise<number> => {
    const [row] = await observer.ask<{ count: number }>(
      "SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return row!.count;
  };
  const wait = (count: number): Promise<void> =>
    until(`${count} transactions wait for a lock`, async () => (await waiting()) === count);
  const hold: Nodes['hold'] = async (held, meanwhile, end = 'ROLLBACK') => {
    const gate = randomUUID();
    await third.ask('BEGIN');
    await third.ask(
      "INSERT INTO frames (id, run, first, last, at, parts, data, crc) VALUES (0, @gate, 0, 0, 0, '', '', 0)",
      { gate },
    );
    const result = one
      .commit({ ...held, payloads: [...(held.payloads ?? []), framesOf(gate)] })
      .catch((error: Error) => error);
    await wait(1);
    const done = await meanwhile();
    await third.ask(end);
    return [await result, done];
  };
  async function waits(blocked: Batch): Promise<{ readonly result: Promise<CommitResult> }> {
    const result = other.commit(blocked);
    await wait(2);
    return { result };
  }
  try {
    await use({ one, other, address, hold, waits });
  } finally {
    await Promise.all([third.end(), observer.end()]);
    await Promise.all([one.close(), other.close()]);
  }
}
