/**
 * An executor that was declared dead and is not: what a process is that was stopped beyond its lease and goes on. It
 * hears of nothing, its run was given to another executor over the same log, and everything it holds is from before.
 */
import assert from 'node:assert/strict';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import type { Threads } from '../../../src/actors/threads.ts';
import { watchDue } from '../../../src/effects/due-watch.ts';
import { startExecutor, type Executor } from '../../../src/effects/executor.ts';
import { createPermits } from '../../../src/effects/permits.ts';
import type { LostAttempt, NewCheckpoint, RunEnd, RunLink } from '../../../src/graphs/port.ts';
import { ask, THREAD } from '../../support/given.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/fencing');

/** One attempt as its graph has it. */
interface Attempt {
  readonly link: RunLink;
  end(how: RunEnd | LostAttempt): void;
}

interface Worker {
  readonly executor: Executor;
  /** Resolves when a run has begun here. */
  readonly attempt: Promise<Attempt>;
}

/** `deaf`: it learns of nothing that others commit. The clock stands still, so it does not look either. */
function startWorker({ log, clock }: TestThreads, threads: Threads, seed: number, deaf: boolean): Worker {
  const ids = seededIds(clock, createRandom(seed));
  const items = createItems({ log, clock, ids });
  const onFault = (error: unknown): void => assert.fail(String(error));
  let begun: (attempt: Attempt) => void = () => undefined;
  const attempt = new Promise<Attempt>((resolve) => (begun = resolve));
  const executor = startExecutor({
    ...{ threads, clock, ids, onFault, permits: createPermits(1), due: watchDue({ log, clock, onFault }) },
    ...{
      runTimeoutMs: 3_600_000,
      maxCharges: 3,
      stopGraceMs: 5_000,
      isRead: () => true,
      lingerClock: clock,
    },
    log: deaf ? { ...log, onCommitted: () => () => undefined } : log,
    store: createStore({
      ...{ log, items, clock, onFault, embedder: undefined },
      ttl: { refreshOnRead: false, defaultTtl: null },
    }),
    graphs: {
      graphIds: ['graph'],
      run: (_order, link) => new Promise((resolve) => begun({ link, end: resolve })),
      close: async () => undefined,
    },
  });
  return { executor, attempt };
}

const checkpoint = (checkpointId: string): NewCheckpoint => ({
  ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {}, valueChannels: [] },
  ...{ channelVersions: {}, blobs: [], step: 0, source: 'loop' },
});
const item = (key: string) => ({ namespace: ['notes'], key });
const put = (key: string) => ({ kind: 'put' as const, ...item(key), value: { by: key } });

/** What an attempt leaves under one name, all of it durable. */
async function leave({ link }: Attempt, name: string): Promise<void> {
  await link.emit([{ event: 'custom', data: JSON.stringify(name) }]);
  await link.checkpoints.save(checkpoint(name));
  await link.store.batch([put(name)]);
  await link.checkpoints.load('');
}

type Deed = (attempt: Attempt, executor: Executor) => Promise<unknown>;
const GONE = /the lease on run a is no longer valid/;
/** Refused with an error that the graph gets to see. */
const refused =
  (act: (link: RunLink) => Promise<unknown>): Deed =>
  ({ link }) =>
    // What does not wait for the disk is told at the next read.
    assert.rejects(async () => {
      await act(link);
      await link.checkpoints.load('');
    }, GONE);
const ends =
  (how: RunEnd | LostAttempt): Deed =>
  async ({ end }, executor) => {
    end(how);
    await executor.drain(60_000);
  };
const lost = { kind: 'lost', error: 'WorkerEnded', message: 'it ended' } as const;

const DEEDS: Readonly<Record<string, Deed>> = {
  frames: refused((link) => link.emit([{ event: 'custom', data: '"late"' }])),
  'a checkpoint': refused((link) => link.checkpoints.save(checkpoint('late'))),
  'writes of a task': refused((link) =>
    link.checkpoints.saveWrites('', 'early', [{ taskId: 't', idx: 0, channel: 'late', data: '1' }]),
  ),
  'an item': refused((link) => link.store.batch([put('late')])),
  'the deletion of an item': refused((link) => link.store.batch([{ kind: 'delete', ...item('early') }])),
  success: ends({ kind: 'success', next: [], interrupts: {} }),
  'an error': ends({ kind: 'error', error: 'Late', message: 'late' }),
  'a charged loss': ends({ ...lost, charged: true }),
  'a loss without charge': ends({ ...lost, charged: false }),
};

const MOMENTS = [
  'it waits for its next attempt',
  'its next attempt runs',
  'its next attempt has ended',
] as const;

for (const [name, deed] of Object.entries(DEEDS))
  for (const moment of MOMENTS)
    test(`X2 X3 S1 when ${moment}, a fenced executor that writes ${name} changes nothing`, () =>
      withThreads(async (lent) => {
        await lent.done([ask.createThread(), ask.createRun('a')]);
        const zombie = startWorker(lent, lent.threads, 3, true);
        const first = await zombie.attempt;
        await leave(first, 'early');
        const other = lent.another();
        const abandoned = await other.dispatch(THREAD, [ask.abandon('a')]);
        assert.ok(abandoned.ok);
        const late = async (): Promise<void> => {
          const before = lent.dump();
          await deed(first, zombie.executor);
          assert.equal(lent.dump(), before);
        };

        if (moment === MOMENTS[0]) await late();
        const heir = startWorker(lent, other, 4, false);
        const second = await heir.attempt;
        await leave(second, 'second');
        if (moment === MOMENTS[1]) await late();
        second.end({ kind: 'success', next: [], interrupts: {} });
        await heir.executor.drain(60_000);
        if (moment === MOMENTS[2]) await late();
        first.end({ kind: 'stopped' });
        await zombie.executor.drain(60_000);

        const frames = await lent.log.payloads.frames('a', -1, 100);
        assert.deepEqual(
          frames.map(({ id, event, data }) => [id, event, JSON.parse(data)]),
          [
            [0, 'metadata', { run_id: 'a', attempt: 1 }],
            [1, 'custom', 'early'],
            [2, 'metadata', { run_id: 'a', attempt: 2 }],
            [3, 'custom', 'second'],
          ],
        );
        const events = await lent.log.readAll(0, 100);
        assert.deepEqual(
          events.flatMap(({ type, data }) => (type === 'RunCompleted' ? [[data.runId, data.attempt]] : [])),
          [['a', 2]],
        );
        assert.equal(events.filter(({ type }) => type === 'RunRequeued').length, 1);
        assert.equal((await lent.log.views.runs.get('a'))?.status, 'success');
      }));

for (const charged of [false, true])
  for (const action of ['interrupt', 'rollback'] as const)
    test(`X3 a run lost (charged: ${charged}) while it is told to stop (${action}) ends without a notice of it`, () =>
      withThreads(async (lent) => {
        await lent.done([ask.createThread(), ask.createRun('a')]);
        const { executor, attempt } = startWorker(lent, lent.threads, 3, false);
        const { end } = await attempt;
        // The fact is not there yet when the end is looked at.
        const told = lent.threads.dispatch(THREAD, [ask.cancel('a', action)]);
        end({ ...lost, charged });
        assert.ok((await told).ok);
        await executor.drain(60_000);
        assert.equal((await lent.threads.read(THREAD)).status, 'idle');
        const run = await lent.log.views.runs.get('a');
        assert.equal(run?.status, action === 'rollback' ? undefined : 'interrupted');
        await executor.stop(10);
      }));

test('X2 given an attempt that was lost, when its graph goes on, then nothing more is taken of it', () =>
  withThreads(async (lent) => {
    await lent.done([ask.createThread(), ask.createRun('a')]);
    const { executor, attempt } = startWorker(lent, lent.threads, 3, false);
    const { link, end } = await attempt;
    end({ ...lost, charged: true });
    await executor.drain(60_000);
    await assert.rejects(link.emit([{ event: 'custom', data: '"late"' }]), /the attempt is over/i);
    await executor.stop(10);
  }));

test.run();
