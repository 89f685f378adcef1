/** Two transactions on two connections, in an order that their locks force. */
import assert from 'node:assert/strict';
import { readAddress } from '../../../src/store/postgres/address.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { until } from '../../support/until.ts';

const test = suite('store, interleavings on PostgreSQL');
const url = shared(test, withPostgres);

const EVENT = `INSERT INTO events VALUES (@position, @stream, @version, 'T', 1, '{}', 0, 0, 'other')`;

/** Resolves when so many connections of the database wait for locks of others. */
const waiting = (session: Session, count: number): Promise<void> =>
  until(`${count} wait for locks`, async () => {
    const [found] = await session.ask(
      "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return found!['n'] === count;
  });

test('L2 a batch that guards a version waits for an append to the stream, and is refused after it', async () => {
  const address = `${url()}?schema=guard_waits`;
  const log = await openTestPostgres(address);
  const other = await connect(readAddress(address));
  committed(await log.commit(batch([append('s', 0, 'a')])));
  await other.ask('BEGIN');
  await other.ask(EVENT, { position: -1, stream: 's', version: 2 });
  const guarded = log.commit(batch([{ stream: 's', expected: 1, events: [] }, append('t', 0, 'b')]));
  await waiting(other, 1);
  await other.ask('COMMIT');
  assert.deepEqual(await guarded, { kind: 'version-conflict', stream: 's' });
  assert.equal(await log.streamVersion('t'), 0);
  await other.end();
  await log.close();
});

test('L2 an append waits for a batch that guards the version of its stream, and follows it', async () => {
  const address = `${url()}?schema=append_waits`;
  const log = await openTestPostgres(address);
  const [other, holder] = [await connect(readAddress(address)), await connect(readAddress(address))];
  committed(await log.commit(batch([append('s', 0, 'a')])));
  // The batch has its guard by now and waits for the stream that it appends to.
  await holder.ask('BEGIN');
  await holder.ask(EVENT, { position: -1, stream: 't', version: 1 });
  const guarded = log.commit(batch([{ stream: 's', expected: 1, events: [] }, append('t', 0, 'b')]));
  await waiting(holder, 1);
  const appended = other.ask(EVENT, { position: -2, stream: 's', version: 2 });
  await waiting(holder, 2);
  await holder.ask('ROLLBACK');
  committed(await guarded);
  await appended;
  assert.equal(await log.streamVersion('s'), 2);
  assert.equal((await log.readAll(0, 10)).length, 2);
  await Promise.all([other.end(), holder.end()]);
  await log.close();
});

test.run();
