import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHistory } from '../../../src/store/sqlite/history.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { ask, THREAD } from '../../support/given.ts';
import { runHere } from '../../support/command-line.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { withPast } from './with-past.ts';

const test = suite('past/history');

test('R1 a write through an opened history throws and leaves the log unchanged', () =>
  withPast(async ({ past, dump }) => {
    const before = dump();
    await past((_, rows) => {
      for (const sql of ['DELETE FROM threads RETURNING *', `UPDATE runs SET status = 'x' RETURNING run_id`])
        assert.throws(() => rows.all(sql), /readonly/, sql);
      assert.throws(() => rows.all('CREATE TABLE t (a)'), /readonly|does not return data/);
    });
    assert.equal(dump(), before);
  }));

test('R1 a history opened beside a live writer stays at one moment', () =>
  withPast(async (lent) => {
    await lent.past(async (history, rows) => {
      const count = async () => (await history.readAll(0, 1_000)).length;
      const before = await count();
      await lent.done(ask.updateThread({ later: 1 }));
      await lent.done(ask.createRun('later'));
      assert.equal(await count(), before);
      assert.equal(rows.get('SELECT count(*) AS n FROM runs')?.['n'], 3);
      assert.equal(await history.firstDifference(), undefined);
    });
    await lent.past((_, rows) => assert.equal(rows.get('SELECT count(*) AS n FROM runs')?.['n'], 4));
  }));

test('R1 given no log, or a file of something else, when its past is opened, then the words say which', () =>
  withTempDir((dir) => {
    const open = () => openHistory(dir, projection);
    assert.throws(open, /log\.db does not exist/);
    writeFileSync(
      join(dir, LOG_FILE),
      'certainly not a database, and long enough to be read as the header of one',
    );
    assert.throws(open, /not a database/);
    rmSync(join(dir, LOG_FILE));
    writeFileSync(join(dir, LOG_FILE), '');
    assert.throws(open, /expected a log of format/);
  }));

async function here(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const { code, out } = await runHere(args);
  return { code: code!, lines: out.split('\n') };
}
const replay = (...args: string[]) => here('replay', ...args);

test('R2 replay of a data folder prints threads, a timeline, a state and the verdict', () =>
  withPast(async ({ dir, behind }) => {
    const threads = await replay('--data', dir);
    assert.equal(threads.code, 0);
    assert.equal(threads.lines.at(-1), '2 threads');
    assert.ok(
      threads.lines.some((line) => line.startsWith(THREAD) && /interrupted .* 2 {5}{"q":1}$/.test(line)),
    );
    const timeline = await replay('--data', dir, '--thread', THREAD);
    assert.equal(timeline.lines.length, 20);
    assert.match(timeline.lines[12]!, /^ +at think/);
    assert.match(timeline.lines[3]!, /^ +4 {2}\S+ {2}run 1 of graph \(a\), input {"q":1}$/);
    const [first] = JSON.parse(
      (await replay('--data', dir, '--thread', THREAD, '--json')).lines[0]!,
    ) as object[];
    assert.deepEqual(Object.keys(first!), ['position', 'time', 'type', 'before', 'after', 'summary', 'data']);
    const state = JSON.parse(
      (await replay('--data', dir, '--thread', THREAD, '--to', '6', '--json')).lines[0]!,
    ) as object;
    assert.deepEqual(
      { ...state, machine: 0, time: 0 },
      {
        ...{ thread_id: THREAD, position: 6, time: 0, status: 'busy', machine: 0, values: { n: 1 } },
        ...{ graph_id: 'graph', next: [], interrupts: {}, error: null },
        metadata: { topic: 'a', graph_id: 'graph', assistant_id: 'assistant' },
        runs: [{ run_id: 'a', status: 'running', attempt: 1 }],
      },
    );
    const fine = await here('verify', '--data', dir);
    assert.deepEqual([fine.code, fine.lines.length], [0, 1]);
    assert.match(fine.lines[0]!, /^verified: 18 events in 3 streams/);
    behind((db) => db.exec('DELETE FROM deliveries'));
    const damaged = await here('verify', '--data', dir, '--json');
    assert.equal(damaged.code, 1);
    assert.match(damaged.lines[0]!, /"ok":false.*"position":18/);
  }));

test('given a wrong call of replay, when it is run, then it throws words and an exit code for the caller', () =>
  withPast(async ({ dir }) => {
    for (const [exitCode, args, message] of [
      [3, [], /\.platform.log\.db does not exist/],
      [3, ['--data', join(dir, 'nowhere')], /does not exist/],
      [3, ['--data', dir, '--thread', 'x'], /no file that exists, and no id/],
      [2, ['--data', dir, '--to', '5'], /together with --thread/],
      [2, ['--data', dir, '--thread', THREAD, '--to', '-1'], /--to/],
      [3, ['--data', dir, '--thread', THREAD.replace('1', '9')], /no run or thread begins with/],
      [3, ['--data', dir, '--thread', THREAD, '--to', '0'], /did not exist at position 0/],
    ] as const)
      await assert.rejects(replay(...args), (error: Error & { exitCode?: number }) => {
        assert.match(error.message, message);
        return (error.exitCode ?? 2) === exitCode;
      });
  }));

test.run();
