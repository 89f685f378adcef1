import assert from 'node:assert/strict';
import {
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LOG_FILE, openSqliteLog } from '../../../src/log/sqlite/log.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { functions, withLog } from '../../support/with-log.ts';

const test = suite('log/sqlite, files that are taken away');

const projection = fakeProjection();
/** What lies between two looks. */
const LOOK_MS = 1_000;

const harms: Record<string, (file: string) => string> = {
  'log.db is removed': (file) => (rmSync(file), file),
  'log.db is replaced by its copy': (file) => {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
    return file;
  },
  'log.db-wal is removed': (file) => (rmSync(`${file}-wal`), `${file}-wal`),
  'log.db-wal is made anew': (file) => {
    const bytes = readFileSync(`${file}-wal`);
    // Beside it first: the number of a file that is gone is given to the next one.
    writeFileSync(`${file}-new`, bytes);
    renameSync(`${file}-new`, `${file}-wal`);
    return `${file}-wal`;
  },
  'the directory is moved': (file) => {
    renameSync(join(file, '..'), join(file, '../../elsewhere'));
    return file;
  },
};

for (const [what, harm] of Object.entries(harms))
  test(`L4 a second after ${what} all commits have an unknown outcome`, () =>
    withTempDir(async (above) => {
      const dir = join(above, 'data');
      const clock = createManualClock(1);
      const log = openSqliteLog({
        ...{ dir, projection, functions, clock },
        onFault: assert.ifError,
      });
      const poisoned: string[] = [];
      log.onPoisoned((cause) => poisoned.push(cause));
      try {
        committed(await log.commit(batch([append('s', 0, 'before')])));
        const harmed = harm(join(dir, LOG_FILE));
        await clock.advance(LOOK_MS);
        for (const commandId of ['first', 'second']) {
          const result = await log.commit(batch([append('s', 1, 'lost')], { commandId }));
          assert.equal(result.kind, 'unknown-outcome');
        }
        assert.equal(poisoned.length, 1);
        assert.ok(poisoned[0]!.startsWith(`${harmed} was removed or replaced`), poisoned[0]);
      } finally {
        await log.close();
      }
    }));

test('L1 closing a log whose folder was moved leaves the one in its place untouched', () =>
  withTempDir(async (above) => {
    const dir = join(above, 'data');
    const open = () =>
      openSqliteLog({
        ...{ dir, projection, functions, clock: createManualClock(1) },
        onFault: assert.ifError,
      });
    const first = open();
    renameSync(dir, join(above, 'elsewhere'));
    const second = open();
    try {
      committed(await second.commit(batch([append('s', 0, 'x')])));
      // Without the journal of the lock, in which there is never anything.
      const files = () => readdirSync(dir).filter((name) => !name.endsWith('-journal'));
      const before = files();
      assert.ok(before.includes(`${LOG_FILE}-head`));
      await first.close();
      assert.deepEqual(files(), before);
    } finally {
      await second.close();
    }
  }));

test('given an open log, when it is written back, cut and looked at by others, then commits go on', () =>
  withLog(
    async ({ log, dir, behind, clock }) => {
      const wal = join(dir, `${LOG_FILE}-wal`);
      for (let round = 0; round < 3; round++) {
        committed(await log.commit(batch([append('s', round, 'x')])));
        behind((db) => db.pragma('wal_checkpoint(TRUNCATE)'));
        assert.equal(statSync(wal).size, 0);
        await clock.advance(LOOK_MS);
      }
    },
    { projection },
  ));

test.run();
