import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../../src/kernel/clock.ts';
import { SearchRefused, type RowReader } from '../../../src/store/port/rows.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createReader, type Reader, type ReaderLimits } from '../../../src/store/sqlite/reader.ts';
import { sqlFunctionsModule } from '../../../src/sql-functions.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, reader thread');

/** Counts to `n`; each step calls a function of ours, as searches by metadata do. */
const asking = (n: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
   SELECT count(*) AS n FROM n WHERE json_contains('{"a":1}', json_object('a', i))`;
/** The same without a function: nothing of ours is called while it runs. */
const silent = (n: number): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT count(*) AS n FROM n`;
const ENDLESS = 1_000_000_000;

const refused =
  (reason: SearchRefused['reason']) =>
  (error: unknown): boolean =>
    error instanceof SearchRefused && error.reason === reason;

/** A reader with limits of its own beside the log's. */
async function withReader(
  limits: Partial<ReaderLimits>,
  use: (reader: Reader) => Promise<void>,
  functionsModule = sqlFunctionsModule,
  clock: Pick<Clock, 'monotonic' | 'after'> = systemClock(),
): Promise<void> {
  await withLog(
    async ({ dir }) => {
      const reader = createReader({
        file: join(dir, LOG_FILE),
        functionsModule,
        clock,
        limits: { searchMs: 10_000, waiting: 200, ...limits },
      });
      try {
        await use(reader);
      } finally {
        await reader.close();
      }
    },
    { projection: fakeProjection() },
  );
}

const one = async (search: RowReader['search'], sql: string): Promise<unknown> =>
  (await search<{ n: number }>(sql))[0]?.n;

test('P1 a search finds an acknowledged commit at once', () =>
  withLog(
    async ({ log }) => {
      for (let i = 0; i < 50; i++) {
        committed(await log.commit(batch([append('s', i, `fact ${i}`)])));
        const found = await log.rows.search<{ version: number }>(
          'SELECT version FROM streams WHERE stream = @stream',
          { stream: 's' },
        );
        assert.deepEqual(found, [{ version: i + 1 }]);
      }
    },
    { projection: fakeProjection() },
  ));

test('a long search does not block the event loop, and SQL functions work in its thread', () =>
  withReader({}, async ({ search }) => {
    assert.equal(await one(search, asking(10)), 1);
    let longest = 0;
    let turns = 0;
    const began = performance.now();
    let last = began;
    let done = false;
    const beat = (): void => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      turns += 1;
      if (!done) setImmediate(beat);
    };
    setImmediate(beat);
    assert.equal(await one(search, asking(200_000)), 1);
    done = true;
    assert.ok(turns > 100, `${turns} turns of the loop`);
    const whole = last - began;
    assert.ok(longest < whole / 2, `the loop stood still for ${longest} of ${whole} ms`);
  }));

test('S3 an endless search is refused at its time limit, and its thread answers the next', () =>
  withReader({ searchMs: 500 }, async ({ search }) => {
    const began = performance.now();
    await assert.rejects(search(asking(ENDLESS)), refused('slow'));
    assert.ok(performance.now() - began < scaled(5_000));
    assert.equal(await one(search, 'SELECT 7 AS n'), 7);
  }));

test('S3 a search that cannot be interrupted loses its thread, and another answers the next', () =>
  withReader({ searchMs: 100 }, async ({ search }) => {
    // Seconds of work, which the process has to wait for in the end.
    await assert.rejects(search(silent(12_000_000)), refused('slow'));
    for (let attempt = 0; ; attempt++)
      try {
        assert.equal(await one(search, 'SELECT 7 AS n'), 7);
        break;
      } catch (error) {
        // The new thread's start may itself take longer than this short limit.
        if (!refused('slow')(error) || attempt > 50) throw error;
      }
  }));

test('S3 searches refused before their thread has started do not prevent its start', () => {
  const clock = systemClock();
  const hasty = { monotonic: () => 0, after: (_ms: number, run: () => void) => clock.after(20, run) };
  return withReader(
    {},
    async ({ search }) => {
      await assert.rejects(one(search, 'SELECT 7 AS n'), refused('slow'));
      let answer: unknown;
      for (let attempt = 0; attempt < 1_000 && answer === undefined; attempt++)
        answer = await one(search, 'SELECT 7 AS n').catch((error: unknown) => {
          if (!refused('slow')(error)) throw error;
        });
      assert.equal(answer, 7);
    },
    sqlFunctionsModule,
    hasty,
  );
});

test('S3 searches beyond the waiting limit are refused at once, waiting ones answered in order', () =>
  withReader({ waiting: 3 }, async ({ search }) => {
    const order: unknown[] = [];
    const ask = (sql: string): Promise<unknown> => one(search, sql).then((n) => order.push(n));
    const answered = [ask(silent(500_000)), ask('SELECT 1 AS n'), ask('SELECT 2 AS n'), ask('SELECT 3 AS n')];
    await assert.rejects(search('SELECT 4 AS n'), refused('busy'));
    await Promise.all(answered);
    assert.deepEqual(order, [500_000, 1, 2, 3]);
  }));

test('a search that kills its thread twice is refused, and the next gets a new thread', () =>
  withReader(
    {},
    async ({ search }) => {
      const dying = search("SELECT die('', '') AS n");
      const next = one(search, 'SELECT 5 AS n');
      await assert.rejects(dying, refused('closed'));
      assert.equal(await next, 5);
    },
    new URL('./deadly-functions.ts', import.meta.url).href,
  ));

test('given a statement that is wrong or that writes, when it is searched with, then it fails alone', () =>
  withReader({}, async ({ search }) => {
    const results = await Promise.allSettled([
      search('SELECT nothing FROM nowhere'),
      search('DELETE FROM facts'),
      search('SELECT 1 AS n'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
  }));

test('given searches under way and waiting, when the log closes, then each is refused and later ones too', () =>
  withLog(
    async ({ log, dir }) => {
      const under = [log.rows.search(asking(ENDLESS)), log.rows.search('SELECT 1 AS n')];
      const ends = Promise.allSettled(under);
      await log.close();
      for (const end of await ends) assert.ok(end.status === 'rejected' && refused('closed')(end.reason));
      await assert.rejects(log.rows.search('SELECT 1 AS n'), refused('closed'));
      assert.equal(statSync(join(dir, `${LOG_FILE}-wal`), { throwIfNoEntry: false }), undefined);
    },
    { projection: fakeProjection() },
  ));

test('A4 an erasure cuts the write-ahead log before the next search begins', () =>
  withLog(
    async ({ log, dir, clock }) => {
      const wal = (): number => statSync(join(dir, `${LOG_FILE}-wal`)).size;
      const secret = { kind: 'secret', runId: 'r', threadId: 't', data: 'of nobody else' } as const;
      await log.commit(batch([], { payloads: [secret] }));
      assert.equal(await one(log.rows.search, 'SELECT 1 AS n'), 1);
      const reading = log.rows.search(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000000)
         SELECT count(*) AS n FROM n, (SELECT count(*) AS held FROM secrets)`,
      );
      const next = log.rows.search('SELECT 1 AS n').then(wal);
      await log.commit(batch([], { payloads: [{ kind: 'erase-secret', runId: 'r' }] }));
      await clock.advance(600);
      await clock.advance(600);
      await reading;
      assert.equal(await next, 0);
    },
    { projection: fakeProjection() },
  ));

test.run();
