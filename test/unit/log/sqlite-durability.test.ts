import assert from 'node:assert/strict';
import { createManualClock } from '../../support/manual-clock.ts';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openConnection } from '../../../src/log/sqlite/connection.ts';
import { DataDirectoryBusy } from '../../../src/log/sqlite/lock.ts';
import { LOG_FILE, openSqliteLog } from '../../../src/log/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, committed, textsOf } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { lengthenCheckpoints } from '../../support/long-checkpoints.ts';
import { joinFrames } from '../../support/version-9.ts';
import { functions, withLog } from '../../support/with-log.ts';

const test = suite('log/sqlite, durability');

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const projection = fakeProjection();

/** `limitKb`: the most that any file of the child may grow to. */
async function inChild(what: string, dir: string, limitKb?: number): Promise<Record<string, unknown>> {
  const limit = limitKb === undefined ? '' : `ulimit -f ${limitKb}; `;
  const script = `${limit}exec "$0" --import tsx "$1" "$2" "$3"`;
  const { stdout } = await run('bash', ['-c', script, process.execPath, CHILD, what, dir]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Transactions in the write-ahead log: frames whose header holds the size of the file after a commit. */
function commitsInWal(dir: string): number {
  const wal = readFileSync(join(dir, `${LOG_FILE}-wal`));
  const frame = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) !== 0) commits += 1;
  return commits;
}

test('L1 given a fresh connection, when it has written, then every setting that durability rests on reads back', () =>
  withTempDir((dir) => {
    const db = openConnection(join(dir, 'fresh.db'));
    try {
      db.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
      const read = (name: string): unknown => db.pragma(name, { simple: true });
      assert.deepEqual(
        ['journal_mode', 'synchronous', 'fullfsync', 'trusted_schema', 'cell_size_check', 'mmap_size'].map(
          read,
        ),
        ['wal', 2, 1, 0, 1, 0],
      );
      assert.deepEqual(
        ['foreign_keys', 'secure_delete', 'journal_size_limit', 'busy_timeout'].map(read),
        [1, 1, 67_108_864, 5_000],
      );
    } finally {
      db.close();
    }
  }));

test('L1 given many commits of one tick, when they are done, then one transaction carried them all', () =>
  withLog(
    async ({ log, dir }) => {
      await log.commit(batch([append('s', 0, 'first')]));
      const before = commitsInWal(dir);
      const results = await Promise.all([
        ...Array.from({ length: 50 }, (_, i) => log.commit(batch([append(`s${i}`, 0, 'x')]))),
        log.commit(batch([append('s', 0, 'conflict')])),
      ]);
      assert.equal(results.filter(({ kind }) => kind === 'committed').length, 50);
      assert.equal(commitsInWal(dir) - before, 1);
      await log.commit(batch([append('s', 1, 'alone')]));
      assert.equal(commitsInWal(dir) - before, 2);
    },
    { projection },
  ));

test('L1 P1 given a commit, when its promise settles, then another connection sees facts, rows and payloads', () =>
  withLog(
    async ({ log, behind }) => {
      const seen = await log
        .commit(
          batch([append('s', 0, 'a')], {
            payloads: [{ kind: 'secret', runId: 'r', threadId: 't', data: '{}' }],
          }),
        )
        .then(() =>
          behind((db) =>
            ['events', 'facts', 'secrets'].map((t) => db.prepare(`SELECT count(*) FROM ${t}`).pluck().get()),
          ),
        );
      assert.deepEqual(seen, [1, 1, 1]);
      assert.deepEqual(log.rows.get('SELECT says FROM facts'), {
        says: 'ThreadUpdated {"threadId":"t","metadata":{"text":"a"}}',
      });
    },
    { projection },
  ));

test('L4 L1 given a disk that takes no more, when a commit fails, then its whole group is of unknown outcome and what was acknowledged is there', () =>
  withTempDir(async (dir) => {
    const told = await inChild('fill', dir, 2_000);
    const kinds = (key: string): string[] => (told[key] as { kind: string }[]).map(({ kind }) => kind);
    assert.deepEqual(kinds('group'), Array(4).fill('unknown-outcome'));
    assert.deepEqual(kinds('later'), Array(3).fill('unknown-outcome'));
    const poisoned = told['poisoned'] as string[];
    assert.equal(poisoned.length, 1);
    assert.match(poisoned[0]!, /disk|full/);
    const round = told['round'] as number;
    assert.ok(round > 3, `only ${round} rounds fitted`);
    assert.equal(told['readable'], round);

    const log = openSqliteLog({
      dir,
      projection,
      functions,
      clock: createManualClock(1),
      onFault: assert.ifError,
    });
    try {
      const [small, tail] = [await log.readStream('small', 1, 1_000), await log.readStream('tail', 1, 1_000)];
      assert.ok(small.length === round || small.length === round + 1);
      assert.equal(tail.length, small.length);
      // Recovery decides: the repeated command is either answered with its receipt or done now.
      const repeated = await log.commit(
        batch([append('tail', round, 'b')], { commandId: `tail-${round}`, repeatable: true }),
      );
      assert.equal(repeated.kind, tail.length === round ? 'committed' : 'duplicate');
    } finally {
      await log.close();
    }
  }));

test('given a data directory that is a file or lies below one, when it is opened, then the words name the option', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'file'), '');
    for (const path of ['file', 'file/below'])
      assert.throws(
        () =>
          openSqliteLog({
            dir: join(dir, path),
            ...{ projection, functions, clock: createManualClock(1), onFault: assert.ifError },
          }),
        new RegExp(`${path} \\(--data, PLATFORM_DATA\\) cannot be made: `),
      );
  }));

test('given an open log, when this or another process opens it too, then it is refused with words that help', () =>
  withLog(
    async ({ log, dir, reopen }) => {
      const open = () =>
        openSqliteLog({ dir, projection, functions, clock: createManualClock(1), onFault: assert.ifError });
      assert.throws(
        open,
        (error: Error) => error instanceof DataDirectoryBusy && error.message.includes(dir),
      );
      const refused = await inChild('open', dir);
      assert.equal(refused['name'], 'DataDirectoryBusy');
      committed(await log.commit(batch([append('s', 0, 'still here')])));
      await reopen();
      assert.equal((await inChild('open', dir))['opened'], false);
      await log.close();
    },
    { projection },
  ));

test('given a log that was closed, when another process opens it, then it may', () =>
  withTempDir(async (dir) => {
    await openSqliteLog({
      dir,
      projection,
      functions,
      clock: createManualClock(1),
      onFault: assert.ifError,
    }).close();
    assert.deepEqual(await inChild('open', dir), { opened: true });
  }));

test('L1 given a file of another program or version, when it is opened, then it is refused and the lock is free again', () =>
  withLog(
    async ({ dir, log, behind }) => {
      const open = () =>
        openSqliteLog({ dir, projection, functions, clock: createManualClock(1), onFault: assert.ifError });
      await log.close();
      behind((db) => db.pragma('user_version = 99'));
      assert.throws(open, /schema version 99/);
      assert.ok(!existsSync(join(dir, `${LOG_FILE}-wal`)), 'a connection was left open');
      behind((db) => db.pragma('user_version = 11'));
      behind((db) => db.pragma('application_id = 7'));
      assert.throws(open, /is not an event log of this program/);
      behind((db) => db.pragma(`application_id = ${0x7468776c}`));
      await open().close();
    },
    { projection },
  ));

test('given a log of an earlier version, when it is opened, then its frames can be read and it takes new ones', () =>
  withLog(
    async ({ log, behind, reopen }) => {
      const frames = (first: number) => ({
        commandId: `frames ${first}`,
        appends: [],
        payloads: [
          { kind: 'frames', runId: 'r', threadId: 't', first, frames: [{ event: 'values', data: '{}' }] },
        ] as const,
      });
      await log.commit(frames(0));
      await log.close();
      behind((db) => {
        joinFrames(db);
        db.exec('ALTER TABLE frames DROP COLUMN at; DROP TABLE item_values; DROP TABLE item_vectors');
        db.exec('DROP INDEX commands_by_age; DROP TABLE requests; DROP TABLE cron_secrets');
        db.exec('ALTER TABLE frames DROP COLUMN state; DROP TABLE frame_states');
        lengthenCheckpoints(db);
        db.pragma('user_version = 1');
      });
      const again = await reopen();
      await again.commit(frames(1));
      const times = (await again.payloads.frames('r', -1, 10)).map(({ id, at }) => [id, at > 0]);
      assert.deepEqual(times, [
        [0, false],
        [1, true],
      ]);
      const forget = { kind: 'forget-thread-frames', threadId: 't' } as const;
      await again.commit({ commandId: 'forget', appends: [], payloads: [forget] });
      assert.equal(await again.payloads.lastFrame('r'), -1);
    },
    { projection },
  ));

test('L3 given a file of version 2, when it is opened, then it has the tables of items and all that it had', () =>
  withLog(
    async (given) => {
      await given.log.commit(batch([append('s', 0, 'a')]));
      await given.log.close();
      given.behind((db) => {
        joinFrames(db);
        db.exec('DROP TABLE item_values; DROP TABLE item_vectors; DROP INDEX commands_by_age');
        db.exec('DROP TABLE requests; DROP TABLE cron_secrets');
        db.exec('ALTER TABLE frames DROP COLUMN state; DROP TABLE frame_states');
        lengthenCheckpoints(db);
        db.pragma('user_version = 2');
      });
      const log = await given.reopen();
      const payloads = [{ kind: 'item-value', itemId: 'i', data: '{}' } as const];
      assert.equal((await log.commit(batch([append('s', 1, 'b')], { payloads }))).kind, 'committed');
      assert.deepEqual(textsOf(await log.readStream('s', 1, 10)), ['a', 'b']);
    },
    { projection },
  ));

test('L3 given a file of version 10, when it is opened, then bodies and items have row ids and all that they had', () =>
  withLog(
    async ({ log, behind, reopen }) => {
      const payloads = [
        { kind: 'body', deliveryId: 'd', threadId: 't', data: '{"body":1}' },
        { kind: 'item-value', itemId: 'i', data: '{"value":1}' },
        { kind: 'item-vectors', itemId: 'i', vectors: ['[1]', '[2]'] },
      ] as const;
      await log.commit(batch([append('s', 0, 'a')], { payloads }));
      await log.close();
      const tables = ['bodies', 'item_values', 'item_vectors'];
      const contents = () =>
        behind((db) => tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()));
      const written = contents();
      behind((db) => {
        for (const table of tables) {
          const ddl = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(table) as string;
          db.exec(`ALTER TABLE ${table} RENAME TO new_${table}; ${ddl}, WITHOUT ROWID`);
          db.exec(`INSERT INTO ${table} SELECT * FROM new_${table}; DROP TABLE new_${table}`);
        }
        db.pragma('user_version = 10');
      });
      const again = await reopen();
      assert.deepEqual(contents(), written);
      assert.deepEqual(
        written.map(({ length }) => length),
        [1, 1, 2],
      );
      const names = (table: string) =>
        behind((db) => db.prepare(`SELECT rowid FROM ${table}`).pluck().all().length);
      assert.deepEqual(tables.map(names), [1, 1, 2]);
      assert.equal(await again.payloads.body('d'), '{"body":1}');
    },
    { projection },
  ));

test.run();
