import { Database } from '../../../src/store/sqlite/library.ts';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { scaled } from '../../support/scaled.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, a lock of somebody else');

test("L4 commits wait in order for another program's transaction without blocking the thread", () =>
  withLog(
    async ({ log, dir }) => {
      const [first] = committed(await log.commit(batch([append('a', 0, 'x')])));
      const other = new Database(join(dir, LOG_FILE));
      try {
        other.exec('BEGIN IMMEDIATE');
        const began = performance.now();
        let settled = 0;
        const asked = [1, 2].map(async (expected) => {
          const result = await log.commit(batch([append('a', expected, 'y')]));
          settled += 1;
          return result;
        });
        // Each look of the writer finds it occupied, and none of them waits for the lock.
        while (performance.now() - began < 100) {
          await new Promise(setImmediate);
          assert.deepEqual(await log.readAll(0, 10), [first]);
        }
        assert.equal(settled, 0);
        assert.ok(performance.now() - began < scaled(4_000), 'the thread stood still');
        other.exec('ROLLBACK');
        const [second, third] = await Promise.all(asked);
        assert.deepEqual(await log.readAll(0, 10), [first, ...committed(second!), ...committed(third!)]);
      } finally {
        other.close();
      }
    },
    { projection: fakeProjection() },
  ));

test.run();
