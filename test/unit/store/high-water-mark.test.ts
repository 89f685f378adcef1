import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Database } from '../../../src/store/sqlite/library.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { openHistory } from '../../../src/store/sqlite/history.ts';
import { LOG_FILE, openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('store, the mark of the head');

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/** A process that commits three events and is killed. */
const commitAndDie = (dir: string): Promise<unknown> =>
  assert.rejects(promisify(execFile)(process.execPath, [CHILD, 'die', dir]), {
    signal: 'SIGKILL',
  });

const open = (dir: string): EventLog =>
  openSqliteLog({
    ...{ dir, projection: fakeProjection(), clock: createManualClock(1) },
    onFault: assert.ifError,
  });

/** Opens, counts, closes. */
async function eventsIn(dir: string): Promise<number> {
  const log = open(dir);
  try {
    return (await log.readAll(0, 1_000)).length;
  } finally {
    await log.close();
  }
}

const named = (dir: string, name = ''): string => join(dir, LOG_FILE + name);
/** What lies there, byte by byte; the index of the write-ahead log is made anew from it. */
const bytesOf = (dir: string): string[] =>
  ['', '-wal', '-head'].map((name) =>
    existsSync(named(dir, name)) ? readFileSync(named(dir, name), 'hex') : 'no',
  );

/** Lends what a killed process left, a copy for each use. */
const withRemains = (use: (copy: () => string) => Promise<void>): Promise<void> =>
  withTempDir(async (dir) => {
    const left = join(dir, 'left');
    mkdirSync(left);
    await commitAndDie(left);
    await commitAndDie(left);
    let copies = 0;
    await use(() => {
      const copy = join(dir, `copy-${copies++}`);
      cpSync(left, copy, { recursive: true });
      return copy;
    });
  });

const isIncomplete =
  (...says: readonly RegExp[]) =>
  (error: Error) =>
    error.name === 'LogIncomplete' && says.every((text) => text.test(error.message));

test('a past whose log ends before the mark beside it is damaged, and one that goes further is not (L1)', () =>
  withTempDir(async (dir) => {
    // given
    const log = open(dir);
    committed(await log.commit(batch([append('s', 0, 'said', 'said')])));
    await log.close();
    const damageAt = async (position: number): Promise<string | undefined> => {
      const digits = String(position).padStart(16, '0');
      writeFileSync(named(dir, '-head'), `${digits} ${digits}\n`);
      const history = openHistory(dir, fakeProjection());
      try {
        return await history.damage();
      } finally {
        await history.close();
      }
    };
    // then
    assert.match(
      (await damageAt(3))!,
      /ends at position 2, and \S+log\.db-head says that position 3 was reached$/,
    );
    for (const position of [1, 2]) assert.equal(await damageAt(position), undefined);
  }));

test('L1 the start refuses a lost, cut or damaged write-ahead log and destroys nothing', () =>
  withRemains(async (copy) => {
    assert.equal(await eventsIn(copy()), 6);
    const harms: ((wal: string) => void)[] = [
      (wal) => rmSync(wal),
      (wal) => writeFileSync(wal, ''),
      (wal) => truncateSync(wal, Math.floor(statSync(wal).size / 2)),
      (wal) => writeFileSync(wal, Buffer.alloc(100_000, 7)),
    ];
    for (const harm of harms) {
      const dir = copy();
      const wal = named(dir, '-wal');
      renameSync(wal, `${wal}.kept`);
      cpSync(`${wal}.kept`, wal);
      harm(wal);
      const before = bytesOf(dir);
      for (let i = 0; i < 2; i++)
        assert.throws(() => open(dir), isIncomplete(/log\.db-wal/, /position 6 was reached/, /log\.db-head/));
      const after = bytesOf(dir);
      // An empty one may be there for a missing one.
      assert.deepEqual([after[0], after[1] || 'no', after[2]], [before[0], before[1] || 'no', before[2]]);
      renameSync(`${wal}.kept`, wal);
      assert.equal(await eventsIn(dir), 6);
    }
  }));

test('L1 the start refuses a missing or empty database after a kill and destroys nothing', () =>
  withRemains(async (copy) => {
    for (const harm of [(db: string) => rmSync(db), (db: string) => writeFileSync(db, '')])
      for (const marked of [true, false]) {
        const dir = copy();
        if (!marked) rmSync(named(dir, '-head'));
        const kept = readFileSync(named(dir));
        harm(named(dir));
        const before = bytesOf(dir);
        assert.throws(() => open(dir), isIncomplete(/log\.db is missing or empty/, /log\.db-wal/));
        assert.deepEqual(bytesOf(dir), before);
        writeFileSync(named(dir), kept);
        assert.equal(await eventsIn(dir), 6);
      }
    const nothing = copy();
    for (const name of ['', '-wal', '-shm']) rmSync(named(nothing, name));
    assert.throws(() => open(nothing), isIncomplete(/position 6 was reached/));
    rmSync(named(nothing, '-head'));
    assert.equal(await eventsIn(nothing), 0);
  }));

test('given a directory whose parts belong together, when it is opened, then nothing is refused', () =>
  withRemains(async (copy) => {
    const cases: Record<string, (dir: string) => void> = {
      'as it was left': () => undefined,
      'of a version without a mark': (dir) => rmSync(named(dir, '-head')),
      'a mark that never reached the disk': (dir) => writeFileSync(named(dir, '-head'), ''),
      'a mark full of zeros': (dir) => writeFileSync(named(dir, '-head'), Buffer.alloc(34)),
      'a torn mark': (dir) => writeFileSync(named(dir, '-head'), '0000000000000009 0000000000000006\n'),
      'an older mark': (dir) => writeFileSync(named(dir, '-head'), '0000000000000002 0000000000000002\n'),
      'without its index': (dir) => rmSync(named(dir, '-shm')),
      'written back by another program': (dir) => new Database(named(dir)).exec('DELETE FROM opened').close(),
    };
    for (const [what, make] of Object.entries(cases)) {
      const dir = copy();
      make(dir);
      assert.equal(await eventsIn(dir), 6, what);
      // A clean end leaves one file that matters, which may be copied or replaced.
      assert.deepEqual(
        readdirSync(dir).filter((name) => name.startsWith(LOG_FILE)),
        [LOG_FILE],
        what,
      );
    }
    const dir = copy();
    new Database(named(dir)).exec(`VACUUM INTO '${named(dir, '.backup')}'`).close();
    const log = open(dir);
    committed(await log.commit(batch([append('t', 0, 'later')])));
    await log.close();
    renameSync(named(dir, '.backup'), named(dir));
    assert.equal(await eventsIn(dir), 6);
  }));

test.run();
