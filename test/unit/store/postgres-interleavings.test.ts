/** Transactions of two nodes on one database. */
import assert from 'node:assert/strict';
import type { Batch, CommitResult } from '../../../src/store/port/log.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { rows, type Work } from '../../../src/store/sql/work.ts';
import { append, batch, committed, endGrant, grant, textsOf } from '../../support/batches.ts';
import { fact } from '../../support/given.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withTcpProxy } from '../../support/tcp-proxy.ts';
import { framesOf, withTwoNodes, type Nodes } from '../../support/two-nodes.ts';
import { until } from '../../support/until.ts';

const test = suite('store, transactions of two nodes on PostgreSQL');
const url = shared(test, withPostgres);

const withNodes = (use: (nodes: Nodes) => Promise<void>): Promise<void> => withTwoNodes(url(), use);

test('all reads of a snapshot see the same moment; a read that fails ends it', () =>
  withNodes(async ({ one, address }) => {
    const [reader, gate] = [await connect(readAddress(address)), await connect(readAddress(address))];
    function* countTwice(between: string): Work<number[]> {
      const count = rows('SELECT count(*) AS count FROM events', []);
      const [before]: { count: number }[] = yield count;
      yield rows(between, []);
      const [after]: { count: number }[] = yield count;
      return [before!.count, after!.count];
    }
    try {
      // given
      await gate.ask('SELECT pg_advisory_lock(7)');
      const counted = reader.run(countTwice('SELECT pg_advisory_xact_lock(7)'), 'snapshot');
      await until('the reader waits', async () => {
        const found = await gate.ask(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        );
        return found.length === 1;
      });
      // when
      committed(await one.commit(batch([append('s', 0, 'a')])));
      await gate.ask('SELECT pg_advisory_unlock(7)');
      // then
      assert.deepEqual(await counted, [0, 0]);
      await assert.rejects(reader.run(countTwice('SELECT 1 / 0'), 'snapshot'), /division by zero/);
      assert.deepEqual(await reader.run(countTwice('SELECT 1'), 'snapshot'), [1, 1]);
    } finally {
      await Promise.all([reader.end(), gate.end()]);
    }
  }));

const lease = { runId: 'r', attempt: 1, leaseId: 'l1' };
const conflict = (stream: string): CommitResult => ({ kind: 'version-conflict', stream });

test('L2 create and create: the second waits for the first and is refused', () =>
  withNodes(async ({ other, hold, waits }) => {
    const [first, { result }] = await hold(batch([append('s', 0, 'a')]), () =>
      waits(batch([append('s', 0, 'b')])),
    );
    committed(first as CommitResult);
    assert.deepEqual(await result, conflict('s'));
    assert.deepEqual(textsOf(await other.readStream('s', 1, 10)), ['a']);
  }));

test('L1 create and create: the second goes on when the first is undone', () =>
  withNodes(async ({ hold, waits }) => {
    const undone = hold(batch([append('s', 0, 'a')]), () => waits(batch([append('s', 0, 'b')])), 'COMMIT');
    const [first, { result }] = await undone;
    committed(await result);
    assert.ok(first instanceof Error || first.kind === 'version-conflict');
  }));

test('L2 guard and append: what is guarded does not move before the guard is committed', () =>
  withNodes(async ({ one, hold, waits }) => {
    committed(await one.commit(batch([append('s', 0, 'a')])));
    const [first, { result }] = await hold(batch([append('o', 0, 'x'), append('s', 1)]), () =>
      waits(batch([append('s', 1, 'b')])),
    );
    committed(first as CommitResult);
    committed(await result);
  }));

test('L2 append and guard: a guard waits for what is appended, and is refused', () =>
  withNodes(async ({ one, hold, waits }) => {
    committed(await one.commit(batch([append('s', 0, 'a')])));
    const [first, { result }] = await hold(batch([append('s', 1, 'b')]), () =>
      waits(batch([append('o', 0, 'x'), append('s', 1)])),
    );
    committed(first as CommitResult);
    assert.deepEqual(await result, conflict('s'));
  }));

test('L3 delete and append: nothing follows on what a purge has taken', () =>
  withNodes(async ({ one, other, hold, waits }) => {
    committed(await one.commit(batch([append('s', 0, 'a', 'b')])));
    const purge = batch([append('s', 2, 'tombstone')], {
      payloads: [{ kind: 'purge-stream', stream: 's', tombstone: 3 }],
    });
    const [first, { result }] = await hold(purge, () => waits(batch([append('s', 2, 'c')])));
    committed(first as CommitResult);
    assert.deepEqual(await result, conflict('s'));
    assert.deepEqual(textsOf(await other.readStream('s', 1, 10)), ['tombstone']);
  }));

test('X2 frames and claim: a claim waits for the frames of the attempt before it', () =>
  withNodes(async ({ one, other, hold }) => {
    await grant(one, lease);
    let claimed = false;
    const [first, claim] = await hold(batch([], { lease, payloads: [framesOf('r')] }), async () => {
      const claim = grant(other, { ...lease, attempt: 2, leaseId: 'l2' }).then(() => (claimed = true));
      return { claim };
    });
    committed(first as CommitResult);
    await claim.claim;
    assert.ok(claimed);
    assert.deepEqual(await one.commit(batch([], { lease, payloads: [framesOf('r', 1)] })), {
      kind: 'fenced-out',
    });
  }));

test('X2 claim and frames: the frames of the attempt before wait for the claim, and are refused', () =>
  withNodes(async ({ one, hold, waits }) => {
    await grant(one, lease);
    const expected = (await one.readStream('thread-r', 1, 10)).length;
    const claim = batch([{ stream: 'thread-r', expected, events: [fact.started('r', 2, 'l2')] }]);
    const [first, { result }] = await hold(claim, () =>
      waits(batch([], { lease, payloads: [framesOf('r')] })),
    );
    committed(first as CommitResult);
    assert.deepEqual(await result, { kind: 'fenced-out' });
  }));

test('X2 cancel and save: a save that waits for the version of a cancel does not hold the run which that changes', () =>
  withNodes(async ({ one, address }) => {
    await grant(one, lease);
    const expected = (await one.readStream('thread-r', 1, 10)).length;
    const [cancel, observer] = [await connect(readAddress(address)), await connect(readAddress(address))];
    try {
      // given
      await cancel.ask('BEGIN');
      await cancel.ask(
        `INSERT INTO events SELECT -1, stream, version + 1, type, schema, data, crc, at, 'cancel' FROM events
         WHERE stream = 'thread-r' AND version = @expected`,
        { expected },
      );
      // when
      const append = { stream: 'thread-r', expected, events: [fact.saved('r', 'c')] };
      const saved = one.commit(batch([append], { lease }));
      await until('the save waits', async () => {
        const sql =
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        return (await observer.ask(sql)).length === 1;
      });
      // then
      await cancel.ask("SELECT 1 FROM runs WHERE run_id = 'r' FOR UPDATE NOWAIT");
      await cancel.ask('COMMIT');
      assert.deepEqual(await saved, conflict('thread-r'));
    } finally {
      await Promise.all([cancel.end(), observer.end()]);
    }
  }));

test('X3 end and claim: a claim that was decided on the run before its end is refused', () =>
  withNodes(async ({ one, hold, waits }) => {
    await grant(one, lease);
    const expected = (await one.readStream('thread-r', 1, 10)).length;
    const of = (...events: Batch['appends'][0]['events']) => [{ stream: 'thread-r', expected, events }];
    const [first, { result }] = await hold(batch(of(fact.requeued('r', 1)), { lease }), () =>
      waits(batch(of(fact.started('r', 2, 'l2')))),
    );
    committed(first as CommitResult);
    assert.deepEqual(await result, conflict('thread-r'));
  }));

test('L4 an end whose answer is lost is committed, though it has ended its own lease', () =>
  withNodes(async ({ one, address }) => {
    await withTcpProxy(address, async (proxy) => {
      const far = new URL(address);
      far.port = new URL(proxy.url).port;
      const log = await openTestPostgres(far.href);
      await grant(log, lease);
      const expected = (await one.readStream('thread-r', 1, 10)).length;
      // Its statements are known to the connection from here on.
      await endGrant(log, lease);
      await grant(log, { ...lease, attempt: 2, leaseId: 'l2' });
      proxy.swallow();
      const end = { stream: 'thread-r', expected: expected + 2, events: [fact.requeued('r', 2)] };
      committed(await log.commit(batch([end], { lease: { ...lease, attempt: 2, leaseId: 'l2' } })));
      assert.equal((await one.readStream('thread-r', 1, 10)).length, expected + 3);
      await log.close();
    });
  }));

test('nodes that start at once on an empty database make its tables once', async () => {
  // given
  const gate = await connect(readAddress(url()));
  await gate.ask("SELECT pg_advisory_lock(hashtextextended('rewound ' || current_database(), 0))");
  // when
  const starts = ['', '?schema=atonce'].flatMap((query) =>
    Array.from({ length: 3 }, () => openTestPostgres(`${url()}${query}`)),
  );
  await until('all wait', async () => {
    const found = await gate.ask(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return found.length === starts.length;
  });
  await gate.end();
  // then
  const logs = await Promise.all(starts);
  for (const at of [0, 3]) {
    committed(await logs[at]!.commit(batch([append('s', 0, 'a')])));
    assert.deepEqual(textsOf(await logs[at + 2]!.readStream('s', 1, 10)), ['a']);
  }
  await Promise.all(logs.map((log) => log.close()));
});

test('a node starts beside commits that are under way', () =>
  withNodes(async ({ address, hold }) => {
    const [first, later] = await hold(batch([append('s', 0, 'a')]), () => openTestPostgres(address));
    committed(first as CommitResult);
    await later.close();
  }));

test.run();
