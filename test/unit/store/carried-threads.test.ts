/** Threads of stateless runs, which have no row while that run is all that happens to them. */
import assert from 'node:assert/strict';
import { createRowFold } from '../../../src/store/port/fold-rows.ts';
import type { Recorded } from '../../../src/store/port/events.ts';
import type { ThreadRecord } from '../../../src/store/port/views/threads.ts';
import { projectThread } from '../../../src/store/sql/rows/threads.ts';
import { toThread } from '../../../src/store/sql/views/thread-queries.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { threadStream, type Outcome, type ThreadEvent } from '../../../src/thread/events.ts';
import { ask, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('store, threads that runs carry');

const PAUSED: Outcome = { kind: 'success', next: ['ask'], interrupts: { t: [{ id: 'i', value: 1 }] } };
const FAILED: Outcome = { kind: 'error', error: 'Error', message: 'no' };
const CREATED: ThreadCommand = {
  ...{ type: 'CreateThread', threadId: THREAD, metadata: { owner: 'ann' }, temporary: true },
};

/** `isCarried`: whether the thread has no row in the end. */
const LIVES: readonly { readonly isCarried: boolean; readonly steps: readonly ThreadCommand[] }[] = [
  ...[undefined, PAUSED, FAILED].map((outcome) => ({
    isCarried: true,
    steps: [ask.start('a'), ask.save('a', 'c1'), ask.save('a', 'c2'), ask.complete('a', outcome)],
  })),
  {
    isCarried: true,
    steps: [ask.start('a'), ask.requeue('a'), ask.start('a', 'l'), ask.complete('a', FAILED, 2, 'l')],
  },
  { isCarried: true, steps: [ask.cancel('a')] },
  {
    isCarried: false,
    steps: [ask.start('a'), ask.save('a', 'c1'), ask.updateThread({ owner: 'bob' }), ask.complete('a')],
  },
  {
    isCarried: false,
    steps: [
      ...[ask.start('a'), ask.save('a', 'c1'), ask.createRun('b'), ask.complete('a', PAUSED)],
      ...[ask.start('b'), ask.save('b', 'c2'), ask.complete('b', FAILED)],
    ],
  },
  {
    isCarried: false,
    steps: [
      ...[ask.start('a'), ask.save('a', 'c1'), ask.createRun('b', 'rollback'), ask.complete('a')],
      ...[ask.start('b'), ask.complete('b')],
    ],
  },
  {
    isCarried: false,
    steps: [ask.start('a'), ask.save('a', 'c1'), ask.cancel('a', 'rollback'), ask.complete('a')],
  },
  { isCarried: false, steps: [ask.start('a'), ask.complete('a'), ask.deleteRun('a')] },
];

/** The thread as its events lead to it when every thread has a row. */
async function expected({ log }: TestThreads): Promise<ThreadRecord | undefined> {
  const fold = createRowFold();
  for (const event of await log.readStream(threadStream(THREAD), 1, 100))
    for (const write of projectThread(event as Recorded<ThreadEvent>)) fold.add(write, event.meta.position);
  const row = [...fold.rows()].find(({ table }) => table === 'threads')?.cells;
  return row && toThread(row);
}

const owned = { sortBy: 'thread_id', sortOrder: 'asc', limit: 10, offset: 0 } as const;

test('P1 P2 A2 a temporary thread reads as if it had a row, whatever happens to it', async () => {
  for (const { steps, isCarried } of LIVES)
    await withThreads(async (lent) => {
      const { clock, rows, past } = lent;
      for (const step of [[CREATED, ask.createRun('a')], ...steps]) {
        await lent.done(step as ThreadCommand | ThreadCommand[]);
        await clock.advance(1_000);
        const { threads } = lent.log.views;
        const thread = await expected(lent);
        assert.deepEqual(await threads.get(THREAD), thread, JSON.stringify(step));
        for (const owner of ['ann', 'bob']) {
          const seen = thread?.metadata['owner'] === owner ? [thread] : [];
          const filter = [{ op: 'equal', key: 'owner', value: owner } as const];
          assert.deepEqual((await threads.search(owned, filter)).threads, seen);
          assert.equal(await threads.count({ status: 'busy', metadata: { owner } }), seen.length);
        }
        assert.equal(await past((history) => history.firstDifference()), undefined);
      }
      // Its run has ended: it waits for its deletion.
      assert.equal(await expected(lent), undefined);
      const now = clock.now();
      assert.deepEqual(await lent.log.views.threads.expired({ before: now, failedBefore: 0 }, 10), [THREAD]);
      assert.equal(rows.all('SELECT 1 FROM threads').length, isCarried ? 0 : 1);
      assert.deepEqual(await lent.log.views.inventory.threads(), [THREAD]);
      await lent.done(ask.deleteThread());
      assert.deepEqual(await lent.log.views.inventory.threads(), []);
      assert.equal(await past((history) => history.firstDifference()), undefined);
    });
});

test.run();
