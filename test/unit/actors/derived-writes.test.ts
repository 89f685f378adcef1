import assert from 'node:assert/strict';
import type { CheckpointText, PayloadWrite } from '../../../src/store/port/payloads.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import type { Outcome } from '../../../src/thread/events.ts';
import { ask, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads, type TestThreads } from './with-threads.ts';

const test = suite('actors/derived-writes');

const webhook = 'https://example.com/hook';
const hooked: Parameters<typeof toRunning>[1] = {
  kwargs: { input: null, config: {}, streamMode: [], streamSubgraphs: false, webhook },
};
const secret = (runId: string): PayloadWrite => ({
  kind: 'secret',
  runId,
  threadId: THREAD,
  data: `secret of ${runId}`,
});

/** Saves a checkpoint whose one channel holds `n`, as an executor does: fact and payload in one commit. */
function save({ done }: TestThreads, runId: string, checkpointId: string, n: number, leaseId = 'lease') {
  const checkpoint: CheckpointText = {
    ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {}, valueChannels: ['n'] },
    channelVersions: { n: checkpointId },
    blobs: [{ channel: 'n', version: checkpointId, data: String(n) }],
  };
  return done(ask.save(runId, checkpointId, 1, leaseId), {
    payloads: [{ kind: 'checkpoint', threadId: THREAD, runId, checkpoint }],
  });
}

const rowsOf = ({ behind }: TestThreads, table: string): Record<string, unknown>[] =>
  behind((db) => db.prepare(`SELECT * FROM ${table}`).all() as Record<string, unknown>[]).map((row) => ({
    ...row,
  }));

test("X2 a run's lease is granted and ended in the commits that start and requeue it", () =>
  withThreads(async (lent) => {
    const leases = () => rowsOf(lent, 'leases');
    await lent.done(toRunning('a'));
    assert.deepEqual(leases(), [{ run_id: 'a', attempt: 1, lease_id: 'lease' }]);
    await lent.done(ask.requeue('a'));
    assert.deepEqual(leases(), []);
    await lent.done(ask.start('a', 'second'));
    assert.deepEqual(leases(), [{ run_id: 'a', attempt: 2, lease_id: 'second' }]);
    await lent.done(ask.abandon('a'));
    assert.deepEqual(leases(), []);
    await lent.done(ask.start('a', 'third'));
    await lent.done(ask.complete('a', { kind: 'success', next: [], interrupts: {} }, 3, 'third'));
    assert.deepEqual(leases(), []);
  }));

test("A4 a run's secrets stay for retries and are erased at any end", () =>
  withThreads(async (lent) => {
    const { done } = lent;
    const left = () => rowsOf(lent, 'secrets').map(({ run_id }) => run_id);
    const create = (runId: string): [ThreadCommand, { payloads: PayloadWrite[] }] => [
      ask.createRun(runId),
      { payloads: [secret(runId)] },
    ];
    await done(ask.createThread());
    for (const runId of ['a', 'b', 'c']) await done(...create(runId));
    await done(ask.start('a'));
    await done(ask.requeue('a'));
    assert.deepEqual(left(), ['a', 'b', 'c']);
    await done(ask.cancel('b'));
    assert.deepEqual(left(), ['a', 'c']);
    await done(ask.start('a', 'l2'));
    await done(ask.complete('a', { kind: 'error', error: 'E', message: 'm' }, 2, 'l2'));
    assert.deepEqual(left(), ['c']);
    await done(ask.createRun('d', 'rollback'), { payloads: [secret('d')] });
    assert.deepEqual(left(), ['d']);
    await done(ask.start('d'));
    await done(ask.abandon('d', 1));
    assert.deepEqual(left(), []);
    await done(...create('e'));
    await done(ask.deleteThread());
    assert.deepEqual(left(), []);
  }));

test("W1 a run's end owes its webhook in the same commit, with the bytes to send", () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a', hooked));
    await save(lent, 'a', 'c1', 42);
    await lent.clock.advance(7_000);
    const { events } = await lent.done(ask.complete('a'), { commandId: 'the end' });
    assert.deepEqual(
      events.map(({ type, meta }) => [type, meta.commandId]),
      [
        ['RunCompleted', 'the end'],
        ['WebhookOwed', 'the end'],
      ],
    );
    const owed = events[1];
    assert.ok(owed?.type === 'WebhookOwed');
    const { deliveryId } = owed.data;
    assert.deepEqual(owed.data, { deliveryId, runId: 'a', threadId: THREAD, url: webhook });
    assert.deepEqual([owed.meta.stream, owed.meta.version], [`delivery-${deliveryId}`, 1]);
    const body = { run: 'a', outcome: 'success', values: { n: 42 }, at: lent.clock.now() };
    assert.deepEqual(JSON.parse((await lent.log.payloads.body(deliveryId))!), body);
  }));

test('W1 given every way for a run to end, when it has a webhook, then exactly one delivery is owed', async () => {
  const ends: Record<string, (lent: TestThreads) => Promise<unknown>> = {
    error: ({ done }) => done(ask.complete('a', { kind: 'error', error: 'E', message: 'm' })),
    timeout: ({ done }) => done(ask.complete('a', { kind: 'timeout', message: 'm' })),
    cancelled: async ({ done }) => {
      await done(ask.cancel('a'));
      await done(ask.abandon('a'));
    },
    'rolled-back': ({ done }) => done([ask.cancel('a', 'rollback'), ask.complete('a')]),
    abandoned: ({ done }) => done(ask.abandon('a', 1)),
    deleted: ({ done }) => done(ask.deleteThread()),
    superseded: async ({ done }) => {
      await done(ask.requeue('a'));
      await done(ask.createRun('b', 'rollback'));
    },
  };
  for (const [name, end] of Object.entries(ends))
    await withThreads(async (lent) => {
      await lent.done(toRunning('a', hooked));
      await end(lent);
      assert.deepEqual(
        rowsOf(lent, 'deliveries').map(({ run_id, status }) => [run_id, status]),
        [['a', 'owed']],
        name,
      );
      assert.equal(rowsOf(lent, 'bodies').length, 1, name);
    });
});

test('W1 given webhooks that are switched off, or none asked for, when a run ends, then nothing is owed', async () => {
  await withThreads(
    async (lent) => {
      await lent.done(toRunning('a', hooked));
      await lent.done(ask.complete('a'));
      assert.deepEqual([rowsOf(lent, 'deliveries'), rowsOf(lent, 'bodies')], [[], []]);
    },
    { webhooks: false },
  );
  await withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    await lent.done(ask.complete('a'));
    assert.deepEqual([rowsOf(lent, 'deliveries'), rowsOf(lent, 'bodies')], [[], []]);
  });
});

test('W1 a run end decided anew after a conflict owes one delivery with the same id', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a', hooked));
    const second = lent.another();
    await second.dispatch(THREAD, [ask.updateThread({ moved: true })]);
    await lent.done(ask.complete('a'));
    assert.equal(rowsOf(lent, 'deliveries').length, 1);
  }));

test('P3 a rolled-back run loses row, checkpoints and frames and restores the values before it', () =>
  withThreads(async (lent) => {
    const { done, log } = lent;
    await done(toRunning('a'));
    await save(lent, 'a', 'c1', 1);
    await done(ask.complete('a'));
    await done([ask.createRun('b', 'enqueue', hooked), ask.start('b', 'lb')], {
      payloads: [
        { kind: 'frames', runId: 'b', threadId: THREAD, first: 0, frames: [{ event: 'e', data: '1' }] },
      ],
    });
    await save(lent, 'b', 'c2', 2, 'lb');
    await done(ask.cancel('b', 'rollback'));
    const outcome: Outcome = { kind: 'success', next: [], interrupts: {} };
    const { events } = await done(ask.complete('b', outcome, 1, 'lb'));
    assert.equal(await log.views.runs.get('b'), undefined);
    assert.deepEqual(
      rowsOf(lent, 'checkpoints').map(({ checkpoint_id }) => checkpoint_id),
      ['c1'],
    );
    assert.deepEqual(
      rowsOf(lent, 'channel_blobs').map(({ run_id }) => run_id),
      ['a'],
    );
    assert.deepEqual(rowsOf(lent, 'frames'), []);
    assert.equal(rowsOf(lent, 'threads')[0]?.['head'], 'c1');
    const owed = events.find(({ type }) => type === 'WebhookOwed');
    assert.ok(owed?.type === 'WebhookOwed');
    const body = JSON.parse((await log.payloads.body(owed.data.deliveryId))!) as { values: unknown };
    assert.deepEqual(body.values, { n: 1 });
  }));

test('L3 of a deleted thread only tombstone, snapshot and owed deliveries remain', () =>
  withThreads(async (lent) => {
    const { done, log } = lent;
    await done(toRunning('a', hooked), { payloads: [secret('a')] });
    await save(lent, 'a', 'c1', 1);
    const { events } = await done(ask.complete('a'));
    const owed = events.find(({ type }) => type === 'WebhookOwed');
    assert.ok(owed?.type === 'WebhookOwed');
    const { deliveryId } = owed.data;
    await log.commit({
      commandId: 'gave up',
      appends: [
        {
          stream: `delivery-${deliveryId}`,
          expected: 1,
          events: [
            {
              type: 'WebhookAttemptFailed',
              data: { deliveryId, attempt: 1, status: 500, error: 'no', ms: 1, nextAt: null },
            },
          ],
        },
      ],
    });
    await done(ask.createRun('b', 'enqueue', hooked));
    const deletion = await done(ask.deleteThread());
    assert.deepEqual(
      deletion.events.map(({ type }) => type),
      ['RunCompleted', 'ThreadDeleted', 'WebhookOwed', 'WebhookOrphaned', 'WebhookForgotten'],
    );
    for (const table of ['threads', 'runs', 'checkpoints', 'channel_blobs', 'frames', 'secrets', 'leases'])
      assert.deepEqual(rowsOf(lent, table), [], table);
    assert.equal((await log.readStream(`thread-${THREAD}`, 1, 100)).length, 1);
    // The delivery that nobody will try again is forgotten; the one that the deletion itself owes is sent, unseen.
    const past = await log.readStream(`delivery-${deliveryId}`, 1, 10);
    assert.deepEqual(
      past.map(({ type }) => type),
      ['WebhookForgotten'],
    );
    assert.deepEqual(
      rowsOf(lent, 'deliveries').map(({ run_id, orphan }) => [run_id, orphan]),
      [['b', 1]],
    );
    assert.deepEqual(
      rowsOf(lent, 'bodies').map(({ data }) => (JSON.parse(String(data)) as { run: string }).run),
      ['b'],
    );
    assert.deepEqual(deletion.state, { status: 'deleted', threadId: THREAD });
    assert.equal(await lent.refused(ask.createRun('c', 'enqueue')), 'thread-missing');
  }));

test.run();
