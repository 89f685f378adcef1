/** Several nodes on one database: who lives, what each claims and reserves, and what is left of one that is gone. */
import assert from 'node:assert/strict';
import { createFollowingClock, systemClock } from '../../../src/kernel/clock.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { LogAway } from '../../../src/store/port/log-failures.ts';
import { MAX_SILENCE_MS, RENEWAL_MS } from '../../../src/store/port/nodes.ts';
import { SHARED_CONTEXT } from '../../../src/store/postgres/dialect.ts';
import { joinNodes } from '../../../src/store/postgres/nodes.ts';
import { connect, type Session } from '../../../src/store/postgres/sessions.ts';
import { hasReturned, reserve } from '../../../src/store/sql/nodes.ts';
import type { Run } from '../../../src/store/sql/work.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withTcpProxy } from '../../support/tcp-proxy.ts';
import { withSchema } from '../../support/test-database.ts';
import { until } from '../../support/until.ts';

const test = suite('store, several nodes on PostgreSQL');
const url = shared(test, withPostgres);

/** Lends two nodes, and a connection that looks at what they share. */
const withNodes = (
  use: (a: EventLog, b: EventLog, session: Session, address: string) => Promise<void>,
): Promise<void> =>
  withSchema(url(), async (address) => {
    const [a, b] = [await openTestPostgres(address), await openTestPostgres(address)];
    const session = await connect(readAddress(address));
    try {
      await use(a, b, session, address);
    } finally {
      await Promise.all([a.close(), b.close(), session.end()]);
    }
  });

const queue = (session: Session, count: number, due: number | null, holder?: string): Promise<unknown> =>
  session.ask(
    `INSERT INTO queue (thread_id, due_at, holder)
     SELECT 't' || lpad(n::text, 3, '0'), @due, @holder FROM generate_series(1, @count) AS n`,
    { count, due, holder: holder ?? null },
  );
/** As if it had said nothing for so long. Its thread may renew it at any time after that. */
const silence = (session: Session, id: string, ms: number): Promise<unknown> =>
  session.ask('UPDATE nodes SET renewed_at = extract(epoch FROM now()) * 1000 - @ms WHERE id = @id', {
    ...{ ms, id },
  });

/** What `ask` finds once the node is gone. */
async function whenGone<T>(
  session: Session,
  id: string,
  ask: () => Promise<readonly T[]>,
): Promise<readonly T[]> {
  for (;;) {
    await silence(session, id, 20_000);
    const found = await ask();
    if (found.length > 0) return found;
  }
}

test('a node is among those that live until its log is closed', () =>
  withNodes(async (a, b) => {
    assert.deepEqual(
      (await a.nodes.all()).map(({ id }) => id),
      [a.nodes.id, b.nodes.id],
    );
    const c = a.nodes.id;
    await a.close();
    assert.deepEqual(
      (await b.nodes.all()).filter(({ id }) => id === c),
      [],
    );
  }));

test('X1 each due thread is claimed by one of two nodes, the longest due first, and others wait for no lock', () =>
  withNodes(async (a, b, session) => {
    await queue(session, 300, 5);
    await session.ask('BEGIN');
    await session.ask("SELECT 1 FROM queue WHERE thread_id = 't001' FOR UPDATE");
    const claims = await Promise.all([a, b, a].map(({ nodes }) => nodes.claimThreads(5, 100)));
    await session.ask('ROLLBACK');
    const claimed = claims.flat();
    assert.deepEqual([claimed.length, new Set(claimed).size, claimed.includes('t001')], [299, 299, false]);
    for (const each of claims) assert.deepEqual(each, [...each].sort());
    assert.deepEqual(await b.nodes.claimThreads(5, 100), ['t001']);
    assert.deepEqual(await a.nodes.claimThreads(4, 100), []);
  }));

test('X5 threads of a node that is gone are taken over once; it is told, and goes on as another node', () =>
  withNodes(async (a, b, session) => {
    const old = a.nodes.id!;
    let told = 0;
    a.nodes.onCutOff(() => (told += 1));
    await queue(session, 3, null, old);
    assert.deepEqual(await a.nodes.held(), ['t001', 't002', 't003']);
    assert.deepEqual(await b.nodes.takeOver(), []);
    await silence(session, old, 6_000);
    assert.deepEqual(await b.nodes.takeOver(), []);
    const taken = await whenGone(session, old, async () =>
      (await Promise.all([b, b, b].map(({ nodes }) => nodes.takeOver()))).flat(),
    );
    assert.deepEqual(
      taken.map(({ threadId }) => threadId),
      ['t001', 't002', 't003'],
    );
    assert.ok(taken.every(({ holder }) => holder === old));
    await until('the node is another one', async () => ![old, undefined].includes(a.nodes.id));
    assert.equal(told, 1);
    await session.ask('UPDATE queue SET picked_until = 0');
    assert.deepEqual((await b.nodes.takeOver())[0], { threadId: 't001', holder: old, isAlive: true });
    assert.deepEqual(
      [await session.run(hasReturned(old)), await session.run(hasReturned(b.nodes.id!))],
      [true, false],
    );
  }));

test('X1 a node that is cut off waits for none of its connections any longer', () =>
  withNodes(async (a, _, session, address) => {
    const old = a.nodes.id!;
    const other = await connect(readAddress(address));
    await other.ask('BEGIN');
    await other.ask('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const read = assert.rejects(a.streamVersion('s'), LogAway);
    let isCutOff = false;
    a.nodes.onCutOff(() => (isCutOff = true));
    await until('the node is cut off', async () => {
      await silence(session, old, 20_000);
      return isCutOff;
    });
    await read;
    await other.end();
    assert.equal(await a.streamVersion('s'), 0);
  }));

test('X5 a renewal that fails is tried again several times before the node is cut off', () =>
  withNodes((_, __, session, address) =>
    withTcpProxy(address, async (proxy) => {
      const behind = address.replace(new URL(address).host, new URL(proxy.url).host);
      const run: Run = (work) => session.run(work);
      const { nodes, leave } = await joinNodes({ url: behind, clock: systemClock(), run });
      proxy.goAway();
      const before = proxy.connections;
      const tried = await new Promise<number>((resolve) => {
        nodes.onCutOff(() => resolve(proxy.connections - before));
      });
      await leave();
      // One each second; without them one each `RENEWAL_MS`.
      assert.ok(tried > MAX_SILENCE_MS / RENEWAL_MS, `${tried} attempts`);
    }),
  ));

test('I7 a task is reserved by one node, until that releases it or is gone', () =>
  withNodes(async (a, b, session) => {
    const tasks = ['e', 'd', 'c', 'b', 'a'];
    const reserved = await Promise.all([a, b, a, b].map(({ nodes }) => nodes.reserve(tasks)));
    const owners = tasks.map((task) => reserved.map((each, index) => (each.includes(task) ? index % 2 : -1)));
    for (const of of owners) assert.equal(new Set(of.filter((node) => node >= 0)).size, 1);
    const [own, other] = reserved[0]!.includes('a') ? [a, b] : [b, a];
    assert.deepEqual(await other.nodes.reserve(['a']), []);
    await own.nodes.release('a');
    assert.deepEqual(await other.nodes.reserve(['a', 'new']), ['a', 'new']);
    const { id } = other.nodes;
    const left = await whenGone(session, id!, () => own.nodes.reserve(['a', 'new']));
    assert.equal(left.length, 2);
    // A node that slept may not have noticed yet that it is gone.
    assert.deepEqual(await session.run(reserve(SHARED_CONTEXT, id!, ['newer'])), []);
  }));

test('a clock that is ten minutes ahead shows the time of the database', () =>
  withNodes(async (_, __, session) => {
    const real = systemClock();
    const clock = createFollowingClock({ ...real, now: () => real.now() + 600_000 });
    const log = await openTestPostgres(url(), { clock });
    const [row] = await session.ask<{ now: number }>('SELECT extract(epoch FROM now()) * 1000 AS now');
    await log.close();
    assert.ok(Math.abs(clock.now() - row!.now) < 60_000, `${clock.now() - row!.now} ms`);
  }));

test.run();
