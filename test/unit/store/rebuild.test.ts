import * as assert from 'node:assert/strict';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { ask } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('store, rebuild');

const rowsOf = ({ behind }: TestThreads): unknown =>
  behind((db) =>
    projection.tables.map((table) => [table, db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]),
  );
const triggersOf = ({ behind }: TestThreads): unknown =>
  behind((db) => db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY 1").all());

test('P2 rows of another projection version are rebuilt at the start as they were', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a'), ask.start('a')]);
    await lent.done([ask.complete('a'), ask.updateThread({ owner: 'me', tags: ['x', 'y'], n: 1 })]);
    await lent.done([ask.createRun('b')]);
    for (const [index, temporary] of [true, true, false].entries()) {
      const threadId = `00000000-0000-4000-8000-00000000000${index}`;
      const metadata = { owner: 'me', tags: ['x'] };
      await lent.threads.dispatch(threadId, [{ type: 'CreateThread', threadId, metadata, temporary }]);
      if (index !== 0) continue;
      await lent.threads.dispatch(threadId, [ask.createRun('c')]);
    }
    const [before, triggers] = [rowsOf(lent), triggersOf(lent)];
    lent.behind((db) =>
      db.exec(
        "UPDATE meta SET value = 'earlier' WHERE key = 'projection'; UPDATE threads SET status = 'idle', metadata = '{}'; DELETE FROM thread_pairs; DELETE FROM runs",
      ),
    );
    assert.notDeepEqual(rowsOf(lent), before);
    await lent.restart();
    assert.deepEqual(rowsOf(lent), before);
    assert.deepEqual(triggersOf(lent), triggers);
    await lent.done([ask.updateThread({ owner: 'you' })]);
    const owners = lent.behind((db) =>
      db
        .prepare(
          `SELECT pair AS entry, count(*) AS n FROM thread_pairs WHERE pair LIKE '["owner","%' GROUP BY pair ORDER BY 1`,
        )
        .all(),
    );
    assert.deepEqual(
      owners.map((row) => ({ ...(row as object) })),
      [
        { entry: '["owner","me"]', n: 2 },
        { entry: '["owner","you"]', n: 1 },
      ],
    );
  }));

test('P2 rebuilt rows keep runs of a thread apart that lie far apart in the log', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a'), ask.start('a')]);
    // More than a rebuild folds at once: the end of the first run is written behind what follows it.
    await lent.done(Array.from({ length: 2_000 }, () => ask.updateThread({})));
    await lent.done([ask.createRun('b')]);
    await lent.done([ask.complete('a'), ask.start('b')]);
    const before = rowsOf(lent);
    lent.behind((db) => db.exec("UPDATE meta SET value = 'earlier' WHERE key = 'projection'"));
    await lent.restart();
    assert.deepEqual(rowsOf(lent), before);
  }));

test.run();
