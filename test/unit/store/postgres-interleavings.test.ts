/**
 * Two nodes on one database, whose transactions meet in the middle: a third connection holds what the first one's last
 * statement needs, until the second one waits too, or is done.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Batch, CommitResult, EventLog } from '../../../src/store/port/log.ts';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { readAddress } from '../../../src/store/postgres/address.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { rows, type Work } from '../../../src/store/sql/work.ts';
import { append, batch, committed, endGrant, grant, textsOf } from '../../support/batches.ts';
import { fact } from '../../support/given.ts';
import { checkpoint, saved } from '../../support/payload-contract.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const test = suite('store, transactions of two nodes on PostgreSQL');
const url = shared(test, withPostgres);

interface Nodes {
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

const framesOf = (runId: string, first = 0): PayloadWrite & { kind: 'frames' } => ({
  ...{ kind: 'frames', runId, threadId: 't', first },
  frames: [{ event: 'values', data: '{}' }],
});

async function withNodes(use: (nodes: Nodes) => Promise<void>): Promise<void> {
  const address = `${url()}?schema=s${randomUUID().replaceAll('-', '')}&pool=3`;
  const [one, other] = [await openTestPostgres(address), await openTestPostgres(address)];
  const third = await connect(readAddress(address));
  // A transaction sees the activity of its begin.
  const observer = await connect(readAddress(address));
  const waiting = async (): Promise<number> => {
    const [row] = await observer.ask<{ count: number }>(
      "SELECT count(*) AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
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
        const found = await gate.ask("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
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
  const address = `${url()}?schema=atonce`;
  const logs = await Promise.all(Array.from({ length: 4 }, () => openTestPostgres(address)));
  committed(await logs[0]!.commit(batch([append('s', 0, 'a')])));
  assert.deepEqual(textsOf(await logs[3]!.readStream('s', 1, 10)), ['a']);
  await Promise.all(logs.map((log) => log.close()));
});

test('a node starts beside commits that are under way', () =>
  withNodes(async ({ address, hold }) => {
    const [first, later] = await hold(batch([append('s', 0, 'a')]), () => openTestPostgres(address));
    committed(first as CommitResult);
    await later.close();
  }));

const LONG = 'what all of them say '.repeat(100);
const bodyOf = (step: number): string => JSON.stringify({ step, text: LONG });
const saves = (step: number, body = bodyOf(step)): Batch => {
  const parentId = step === 1 ? null : `c${step - 1}`;
  return batch([], { payloads: [saved(checkpoint(`c${step}`, {}, {}, { parentId, body }), `r${step}`)] });
};
const forgets = (step: number): Batch =>
  batch([], { payloads: [{ kind: 'forget-checkpoints', threadId: 't', runId: `r${step}`, kept: [] }] });
const shows = (step: number): Batch =>
  batch([], {
    payloads: [
      {
        ...{ kind: 'frames', runId: `r${step}`, threadId: 't', first: 0 },
        frames: [{ event: 'values', data: bodyOf(step), state: 'whole' }],
      },
    ],
  });
const hides = (step: number): Batch =>
  batch([], { payloads: [{ kind: 'forget-frames', runId: `r${step}`, threadId: 't' }] });

const kinds = [
  {
    ...{ title: 'checkpoint', writes: saves, erases: forgets },
    read: async (log: EventLog, step: number) => (await log.payloads.checkpoint('t', '', `c${step}`))?.body,
  },
  {
    ...{ title: 'frame', writes: shows, erases: hides },
    read: async (log: EventLog, step: number) => (await log.payloads.frames(`r${step}`, -1, 1))[0]?.data,
  },
];
for (const { title, writes, erases, read } of kinds) {
  test(`L3 erase and write: a ${title} whose base is erased meanwhile differs from another one, or none`, () =>
    withNodes(async ({ one, other, hold, waits }) => {
      committed(await one.commit(writes(1)));
      committed(await other.commit(writes(2)));
      const [first, { result }] = await hold(erases(2), () => waits(writes(3)));
      committed(first as CommitResult);
      committed(await result);
      for (const log of [one, other]) {
        assert.equal(await read(log, 2), undefined);
        assert.equal(await read(log, 3), bodyOf(3));
      }
    }));

  test(`L3 write and erase: a ${title} that is written meanwhile is made whole before its base is erased`, () =>
    withNodes(async ({ one, other, hold, waits }) => {
      committed(await one.commit(writes(1)));
      const [first, { result }] = await hold(writes(2), () => waits(erases(1)));
      committed(first as CommitResult);
      committed(await result);
      assert.equal(await read(other, 1), undefined);
      assert.equal(await read(other, 2), bodyOf(2));
      committed(await other.commit(writes(3)));
      assert.equal(await read(one, 3), bodyOf(3));
    }));
}

test('P3 a checkpoint that another node has saved anew is no base as it was before', () =>
  withNodes(async ({ one, other }) => {
    committed(await one.commit(saves(1)));
    committed(await other.commit(saves(1, JSON.stringify({ step: 'anew', text: LONG }))));
    committed(await one.commit(saves(2)));
    assert.equal((await other.payloads.checkpoint('t', '', 'c2'))?.body, bodyOf(2));
    // when the thread is deleted elsewhere
    const purge = { kind: 'purge-thread', threadId: 't', stream: 'thread-t', tombstone: 1 } as const;
    committed(await other.commit(batch([], { payloads: [purge] })));
    // then its rows come anew
    committed(await one.commit(saves(3)));
    assert.deepEqual(
      (await other.payloads.checkpoints('t', {})).map(({ checkpointId }) => checkpointId),
      ['c3'],
    );
  }));

test.run();
