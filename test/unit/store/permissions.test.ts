import * as assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { append, batch } from '../../support/batches.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('store, permissions');

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Opens, commits, looks while it is open, and closes; the warnings. */
async function use(dir: string, look: () => void): Promise<string[]> {
  const warnings: string[] = [];
  const log = openSqliteLog({
    ...{ dir, projection: fakeProjection(), clock: createManualClock() },
    onFault: assert.ifError,
    onWarning: (text) => warnings.push(text),
  });
  await log.commit(batch([append('s', 0, 'one')]));
  look();
  await log.close();
  return warnings;
}

test('a new data directory and its files can be read by their owner alone, whatever the umask', () =>
  withTempDir(async (dir) => {
    for (const umask of [0o000, 0o022, 0o077]) {
      const before = process.umask(umask);
      try {
        // Given a folder that is not there, when a log is opened in it
        const data = join(dir, `${umask}`, 'data');
        const warnings = await use(data, () => {
          // Then nobody else can read what lies there
          const names = readdirSync(data);
          for (const name of ['log.db', 'log.db-wal', 'log.db-shm', 'log.db-head', 'lock.db', 'reserve'])
            assert.ok(names.includes(name), name);
          assert.equal(modeOf(data), '700');
          for (const name of names) assert.equal(modeOf(join(data, name)), '600', name);
        });
        assert.deepEqual(warnings, []);
      } finally {
        process.umask(before);
      }
    }
  }));

test('a data directory that others can read stays as it is and is named in a warning', () =>
  withTempDir(async (dir) => {
    const data = join(dir, 'data');
    mkdirSync(data);
    for (const [mode, warned] of [
      [0o755, 1],
      [0o750, 1],
      [0o700, 0],
    ] as const) {
      chmodSync(data, mode);
      const warnings = await use(data, () => undefined);
      assert.equal(
        warnings.filter((text) => text.includes(`${data} has the mode 0${mode.toString(8)}`)).length,
        warned,
      );
      assert.equal(modeOf(data), mode.toString(8));
    }
  }));

test.run();
