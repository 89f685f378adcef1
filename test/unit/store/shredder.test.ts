import assert from 'node:assert/strict';
import { cpSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LOG_FILE, openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, shredder');

test('A4 L3 an erased secret is gone once a long reader has left, and no writer waits for it', () =>
  withLog(
    async ({ log, dir, clock, past }) => {
      const wal = join(dir, `${LOG_FILE}-wal`);
      const data = 'a secret that nobody else holds';
      await log.commit(batch([], { payloads: [{ kind: 'secret', runId: 'r', threadId: 't', data }] }));
      await past(async (history) => {
        await history.readAll(0, 10);
        await log.commit(batch([], { payloads: [{ kind: 'erase-secret', runId: 'r' }] }));
        const began = performance.now();
        for (let pass = 0; pass < 5; pass++) await clock.advance(600);
        const waited = performance.now() - began;
        assert.ok(waited < scaled(2_000), `the writer was held up for ${waited} ms`);
        assert.ok(readFileSync(wal).includes(data));
        committed(await log.commit(batch([append('s', 0, 'goes on')])));
      });
      await clock.advance(600);
      assert.equal(statSync(wal).size, 0);
      assert.ok(!readFileSync(join(dir, LOG_FILE)).includes(data));
      assert.equal(clock.pending().length, 0);
    },
    { projection: fakeProjection() },
  ));

test('erased secrets share one pass in 30 s, and a deletion does not wait for it (A4, L3)', () =>
  withLog(
    async ({ log, dir, clock }) => {
      const data = 'a secret of one of many runs';
      const isThere = (): boolean => readFileSync(join(dir, `${LOG_FILE}-wal`)).includes(data);
      const runOnce = async (runId: string): Promise<void> => {
        await log.commit(batch([], { payloads: [{ kind: 'secret', runId, threadId: 't', data }] }));
        committed(await log.commit(batch([], { payloads: [{ kind: 'erase-secret', runId }] })));
      };
      await runOnce('r1');
      await clock.advance(600);
      assert.ok(!isThere());
      for (const runId of ['r2', 'r3']) {
        await runOnce(runId);
        await clock.advance(10_000);
        assert.ok(isThere());
      }
      await clock.advance(10_000);
      assert.ok(!isThere());
      await runOnce('r4');
      await log.commit(
        batch([], { payloads: [{ kind: 'purge-thread', threadId: 't', stream: 't', tombstone: 0 }] }),
      );
      await clock.advance(600);
      assert.ok(!isThere());
    },
    { projection: fakeProjection() },
  ));

test('A4 L3 an erasure right before a crash is completed when the log opens again', () =>
  withLog(
    ({ log, dir }) =>
      withTempDir(async (copy) => {
        const data = 'a secret that a crash left behind';
        await log.commit(batch([], { payloads: [{ kind: 'secret', runId: 'r', threadId: 't', data }] }));
        committed(await log.commit(batch([], { payloads: [{ kind: 'erase-secret', runId: 'r' }] })));
        for (const name of [LOG_FILE, `${LOG_FILE}-wal`]) cpSync(join(dir, name), join(copy, name));
        const found = (name: string): boolean => readFileSync(join(copy, name)).includes(data);
        assert.ok(found(`${LOG_FILE}-wal`));
        const [clock, projection] = [createManualClock(), fakeProjection()];
        const onFault = (error: unknown): never => assert.fail(String(error));
        const again = openSqliteLog({ dir: copy, projection, clock, onFault });
        assert.deepEqual([found(LOG_FILE), found(`${LOG_FILE}-wal`)], [false, false]);
        await again.close();
      }),
    { projection: fakeProjection() },
  ));

test('a large write-ahead log is cut after a while also without an erasure', () =>
  withLog(
    async ({ log, dir, clock }) => {
      const size = (): number => statSync(join(dir, `${LOG_FILE}-wal`)).size;
      await log.commit(batch([append('s', 0, 'small')]));
      await clock.advance(600);
      assert.ok(size() > 0);
      const block = 'x'.repeat(1_000_000);
      await Promise.all(Array.from({ length: 70 }, (_, i) => log.commit(batch([append(`s${i}`, 0, block)]))));
      assert.ok(size() > 67_108_864);
      await clock.advance(600);
      assert.equal(size(), 0);
      assert.equal(clock.pending().length, 0);
    },
    { projection: fakeProjection() },
  ));

test.run();
