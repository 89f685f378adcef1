import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../../src/kernel/clock.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { SearchRefused } from '../../../src/store/port/views/views.ts';
import type { Ask } from '../../../src/store/sql/ask.ts';
import { TOTAL } from '../../../src/store/sql/views/thread-plan.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { createReader, type Reader, type ReaderLimits } from '../../../src/store/sqlite/reader.ts';
import { fact } from '../../support/given.ts';
import { batch, committed } from '../../support/batches.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';
import { breathe } from '../../../src/kernel/breathe.ts';
import { COUNTING, DYING } from './reader-scans.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, reader thread');

/** Counts to `n` in one statement, which cannot be interrupted. */
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
  use: (reader: Reader, log: EventLog) => Promise<void>,
  clock: Pick<Clock, 'monotonic' | 'after'> = systemClock(),
): Promise<void> {
  await withLog(async ({ dir, log }) => {
    const reader = createReader({
      file: join(dir, LOG_FILE),
      scans: new URL('./reader-scans.ts', import.meta.url).href,
      clock,
      limits: { searchMs: 10_000, waiting: 200, ...limits },
    });
    try {
      await use(reader, log);
    } finally {
      await reader.close();
    }
  });
}

const one = async (scan: Ask['scan'], sql: string): Promise<unknown> => scan(TOTAL, { sql, params: {} });

test('P1 a search finds an acknowledged commit at once', () =>
  withReader({}, async ({ scan }, log) => {
    for (let i = 0; i < 50; i++) {
      const events = [fact.created({ i }, false, `t${i}`)];
      committed(await log.commit(batch([{ stream: `thread-t${i}`, expected: 0, events }])));
      assert.equal(await one(scan, 'SELECT count(*) AS n FROM threads'), i + 1);
    }
  }));

test('a long search does not block the event loop', () =>
  withReader({}, async ({ scan }) => {
    assert.equal(await scan(COUNTING, 10), 10);
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
    assert.equal(await scan(COUNTING, 300_000), 300_000);
    done = true;
    assert.ok(turns > 100, `${turns} turns of the loop`);
    const whole = last - began;
    assert.ok(longest < whole / 2, `the loop stood still for ${longest} of ${whole} ms`);
  }));

test('S3 an endless search is refused at its time limit, and its thread answers the next', () =>
  withReader({ searchMs: 500 }, async ({ scan }) => {
    const began = performance.now();
    await assert.rejects(scan(COUNTING, ENDLESS), refused('slow'));
    assert.ok(performance.now() - began < scaled(5_000));
    assert.equal(await one(scan, 'SELECT 7 AS n'), 7);
  }));

test('S3 a search that cannot be interrupted loses its thread, and another answers the next', () =>
  withReader({ searchMs: 100 }, async ({ scan }) => {
    // Seconds of work, which the process has to wait for in the end.
    await assert.rejects(one(scan, silent(12_000_000)), refused('slow'));
    for (let attempt = 0; ; attempt++)
      try {
        assert.equal(await one(scan, 'SELECT 7 AS n'), 7);
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
    async ({ scan }) => {
      await assert.rejects(one(scan, 'SELECT 7 AS n'), refused('slow'));
      let answer: unknown;
      for (let attempt = 0; attempt < 1_000 && answer === undefined; attempt++)
        answer = await one(scan, 'SELECT 7 AS n').catch((error: unknown) => {
          if (!refused('slow')(error)) throw error;
        });
      assert.equal(answer, 7);
    },
    hasty,
  );
});

test('S3 searches beyond the waiting limit are refused at once, waiting ones answered in order', () =>
  withReader({ waiting: 3 }, async ({ scan }) => {
    const order: unknown[] = [];
    const ask = (sql: string): Promise<unknown> => one(scan, sql).then((n) => order.push(n));
    const answered = [ask(silent(500_000)), ask('SELECT 1 AS n'), ask('SELECT 2 AS n'), ask('SELECT 3 AS n')];
    await assert.rejects(one(scan, 'SELECT 4 AS n'), refused('busy'));
    await Promise.all(answered);
    assert.deepEqual(order, [500_000, 1, 2, 3]);
  }));

test('a search that kills its thread twice is refused, and the next gets a new thread', () =>
  withReader({}, async ({ scan }) => {
    const dying = scan(DYING);
    const next = one(scan, 'SELECT 5 AS n');
    await assert.rejects(dying, refused('closed'));
    assert.equal(await next, 5);
  }));

test('given a statement that is wrong or that writes, when it is searched with, then it fails alone', () =>
  withReader({}, async ({ scan }) => {
    const results = await Promise.allSettled([
      one(scan, 'SELECT nothing FROM nowhere'),
      one(scan, 'DELETE FROM events RETURNING position AS n'),
      one(scan, 'SELECT 1 AS n'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
  }));

/** Writes threads whose metadata an index does not answer, behind the log's back. */
const fill = (behind: TestLog['behind'], n: number) =>
  behind((db) =>
    db.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
       INSERT INTO threads (thread_id, created_at, updated_at, status, settled, metadata, pairs, interrupts, temporary)
       SELECT 't' || i, 1, 1, 'idle', 'idle', '{"deep":{"i":' || i || '}}', '["[\\"deep\\"]"]', '{}', 0 FROM n`,
    ),
  );
const DEEP = { metadata: { deep: { i: { $gte: 0 } } } };

test('given searches under way and waiting, when the log closes, then each is refused and later ones too', () =>
  withLog(async ({ log, dir, behind }) => {
    fill(behind, 100_000);
    const { threads } = log.views;
    const ends = Promise.allSettled([threads.count(DEEP), threads.count(DEEP)]);
    // They are planned first.
    await breathe();
    await log.close();
    for (const end of await ends) assert.ok(end.status === 'rejected' && refused('closed')(end.reason));
    assert.equal(statSync(join(dir, `${LOG_FILE}-wal`), { throwIfNoEntry: false }), undefined);
  }));

test('A4 an erasure cuts the write-ahead log before the next search begins', () =>
  withLog(async ({ log, dir, clock, behind }) => {
    const wal = (): number => statSync(join(dir, `${LOG_FILE}-wal`)).size;
    fill(behind, 100_000);
    const secret = { kind: 'secret', runId: 'r', threadId: 't', data: 'of nobody else' } as const;
    await log.commit(batch([], { payloads: [secret] }));
    assert.deepEqual(await log.views.inventory.assistants(), []);
    const reading = log.views.threads.count(DEEP);
    // It is planned first.
    await breathe();
    const next = log.views.inventory.assistants().then(wal);
    await log.commit(batch([], { payloads: [{ kind: 'erase-secret', runId: 'r' }] }));
    await clock.advance(600);
    await clock.advance(600);
    assert.equal(await reading, 100_000);
    assert.equal(await next, 0);
  }));

test.run();
