/** A database that goes away, or falls silent: nothing is lost, nothing is done twice, and nothing waits without an end. */
import assert from 'node:assert/strict';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { LogAway, LogUnavailable } from '../../../src/store/port/log-failures.ts';
import { connect, isAway } from '../../../src/store/postgres/sessions.ts';
import { append, batch, committed, grant, textsOf } from '../../support/batches.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

const test = suite('store, a PostgreSQL that is away');
const url = shared(test, withPostgres);

/** The same database through a proxy. */
const behind = (proxy: TcpProxy): string => url().replace(new URL(url()).host, new URL(proxy.url).host);

test('L4 a commit whose answer is cut off or lost is done once', () =>
  withTcpProxy(url(), async (proxy) => {
    const log = await openTestPostgres(`${behind(proxy)}?schema=cut`);
    const direct = await connect(readAddress(`${url()}?schema=cut`));
    const written: string[] = [];
    const write = async (text: string): Promise<void> => {
      committed(await log.commit(batch([append('s', written.length, text)])));
      written.push(text);
    };
    for (let bytes = 0; bytes < 3_000; bytes += 200) {
      proxy.dieAfter(bytes);
      proxy.cut();
      await write(`${bytes}`);
      // What the transaction does is known to the connection now, so it is one round trip.
      await write(`${bytes} and more`);
      proxy.swallow();
      await write(`${bytes} and unheard`);
    }
    const [row] = await direct.ask("SELECT count(*) AS events FROM events WHERE stream = 's'");
    assert.equal(row!['events'], written.length);
    assert.deepEqual(textsOf(await log.readStream('s', 1, 100)), written);
    await direct.end();
    await log.close();
  }));

test('while the database is away reads are refused with LogUnavailable, and go on when it is back', () =>
  withTcpProxy(url(), async (proxy) => {
    const log = await openTestPostgres(`${behind(proxy)}?schema=away`);
    committed(await log.commit(batch([append('s', 0, 'a')])));
    assert.equal(await log.streamVersion('s'), 1);
    proxy.dieAfter(0);
    proxy.cut();
    await assert.rejects(log.streamVersion('s'), LogUnavailable);
    // The next connection dies, unless the first refusal was of it.
    const again = await log.streamVersion('s').catch((error: unknown) => {
      assert.ok(error instanceof LogUnavailable);
      return log.streamVersion('s');
    });
    assert.equal(again, 1);
    await log.close();
  }));

test("while the database is away a run's commit waits, another is refused when its time is over", () =>
  withTcpProxy(url(), async (proxy) => {
    const address = `${behind(proxy)}?schema=long_away`;
    const told: string[] = [];
    const log = await openTestPostgres(address, { maxAwayMs: 0, onWarning: (text) => told.push(text) });
    const lease = { runId: 'r', attempt: 1, leaseId: 'l' };
    await grant(log, lease);
    proxy.goAway();
    const ofRun = log.commit(batch([append('s', 0, 'of the run')], { lease }));
    await assert.rejects(log.commit(batch([append('t', 0, 'other')])), LogAway);
    await assert.rejects(log.streamVersion('s'), LogAway);
    proxy.comeBack();
    committed(await ofRun);
    assert.equal(await log.streamVersion('t'), 0);
    assert.equal(told.length, 2, told.join('\n'));
    assert.match(told[0]!, /until then changes wait/);
    assert.match(told[1]!, /answers again/);
    await log.close();
  }));

test('X5 a connection that is taken and says nothing is given up, at whatever byte it falls silent', () =>
  withTcpProxy(url(), async (proxy) => {
    const address = readAddress(behind(proxy));
    const connects = Array.from({ length: 12 }, (_, i) => {
      proxy.fallSilentAfter(i * 60);
      return assert.rejects(connect(address), isAway);
    });
    await Promise.all(connects);
  }));

test('a connection that has fallen silent ends without an answer', () =>
  withTcpProxy(url(), async (proxy) => {
    const session = await connect(readAddress(behind(proxy)));
    proxy.hang();
    await session.end();
    assert.equal(session.isLost, true);
  }));

test('while the database is away all that wait for a connection share one attempt, and what it says', () =>
  withTcpProxy(url(), async (proxy) => {
    const log = await openTestPostgres(`${behind(proxy)}?schema=many_away`);
    proxy.goAway();
    await assert.rejects(log.streamVersion('s'), LogAway);
    await assert.rejects(log.streamVersion('s'), LogAway);
    const before = proxy.connections;
    const reads = Array.from({ length: 500 }, () => assert.rejects(log.streamVersion('s'), LogAway));
    await Promise.all(reads);
    // Those that renew the node and listen try besides.
    const tried = proxy.connections - before;
    assert.ok(tried <= 10, `${tried} attempts`);
    proxy.comeBack();
    assert.equal(await log.streamVersion('s'), 0);
    await log.close();
  }));

test('a log whose database has fallen silent closes', () =>
  withTcpProxy(url(), async (proxy) => {
    const log = await openTestPostgres(`${behind(proxy)}?schema=closed_silent`);
    committed(await log.commit(batch([append('s', 0, 'a')])));
    proxy.hang();
    await Promise.all([
      assert.rejects(log.commit(batch([append('s', 1, 'b')])), LogUnavailable),
      log.close(),
    ]);
  }));

test('a log whose database is away closes, and tells what waits that its outcome is unknown', () =>
  withTcpProxy(url(), async (proxy) => {
    const address = `${behind(proxy)}?schema=closed_away`;
    const log = await openTestPostgres(address, { maxAwayMs: 0 });
    const lease = { runId: 'r', attempt: 1, leaseId: 'l' };
    await grant(log, lease);
    proxy.goAway();
    const ofRun = log.commit(batch([append('s', 0, 'of the run')], { lease }));
    await Promise.all([assert.rejects(ofRun, LogUnavailable), log.close()]);
  }));

test.run();
