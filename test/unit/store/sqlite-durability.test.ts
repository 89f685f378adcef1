import assert from 'node:assert/strict';
import { createManualClock } from '../../support/manual-clock.ts';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { DataDirectoryBusy } from '../../../src/store/sqlite/files/lock.ts';
import { LOG_FILE, openSqliteLog } from '../../../src/store/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, committed } from '../../support/batches.ts';
import { FORMAT } from '../../../src/store/sqlite/schema.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, durability');

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));
const projection = fakeProjection();

/** `limitKb`: the most that any file of the child may grow to. */
async function inChild(what: string, dir: string, limitKb?: number): Promise<Record<string, unknown>> {
  const limit = limitKb === undefined ? '' : `ulimit -f ${limitKb}; `;
  const script = `${limit}exec "$0" "$1" "$2" "$3"`;
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

test('L1 every connection has the settings that durability depends on', () =>
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

test('L1 P1 once a commit resolves another connection sees its events, rows and payloads', () =>
  withLog(
    async ({ log, behind, rows }) => {
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
      assert.deepEqual(rows.get('SELECT says FROM facts'), {
        says: 'ThreadUpdated {"threadId":"t","metadata":{"text":"a"}}',
      });
    },
    { projection },
  ));

test('L4 L1 a failed commit has an unknown outcome for its group; acknowledged commits are there', () =>
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

test('the error for a data folder that is a file, or below one, names the option', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'file'), '');
    for (const path of ['file', 'file/below'])
      assert.throws(
        () =>
          openSqliteLog({
            dir: join(dir, path),
            ...{ projection, clock: createManualClock(1), onFault: assert.ifError },
          }),
        new RegExp(`${path} \\(--data, PLATFORM_DATA\\) cannot be made: `),
      );
  }));

test('a second opening of a log, in this or another process, is refused helpfully', () =>
  withLog(
    async ({ log, dir, reopen }) => {
      const open = () =>
        openSqliteLog({ dir, projection, clock: createManualClock(1), onFault: assert.ifError });
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
      clock: createManualClock(1),
      onFault: assert.ifError,
    }).close();
    assert.deepEqual(await inChild('open', dir), { opened: true });
  }));

const OLDER =
  'no release wrote it: name another data directory, or export its threads with the version that wrote it and import them';

for (const [what, pragma, found, wayOut] of [
  ['an earlier format', 'user_version = 19', 'a log of format 19', OLDER],
  ['no format', 'user_version = 0', 'a log of format 0', OLDER],
  [
    'a later format',
    `user_version = ${FORMAT + 1}`,
    `a log of format ${FORMAT + 1}`,
    'use the version that wrote it, or a later one',
  ],
  [
    'another application',
    `application_id = ${0x7468776c}`,
    'a database of another program (application id 0x7468776c)',
    'name another data directory',
  ],
] as const)
  test(`a log file of ${what} is refused with one line that says what to do, and is left unlocked (L1)`, () =>
    withLog(
      async ({ dir, log, behind, reopen }) => {
        // given
        await log.close();
        const before = (name: string) => behind((db) => db.pragma(name, { simple: true }));
        const marks = ['user_version', 'application_id'].map((name) => `${name} = ${String(before(name))}`);
        behind((db) => db.pragma(pragma));
        // when
        const open = () =>
          openSqliteLog({ dir, projection, clock: createManualClock(1), onFault: assert.ifError });
        // then
        const line = `${join(dir, LOG_FILE)}: found ${found}, expected a log of format ${FORMAT}; ${wayOut}`;
        assert.throws(open, { message: line });
        assert.ok(!existsSync(join(dir, `${LOG_FILE}-wal`)), 'a connection was left open');
        for (const mark of marks) behind((db) => db.pragma(mark));
        await (await reopen()).close();
      },
      { projection },
    ));

test.run();
