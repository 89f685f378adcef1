import assert from 'node:assert/strict';
import type { CheckpointText, PayloadWrite } from '../../../src/store/port/payloads.ts';
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

test('W1 a run end decided anew after a conflict owes one delivery with the same id', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a', hooked));
    const second = lent.another();
    await second.dispatch(THREAD, [ask.updateThread({ moved: true })]);
    await lent.done(ask.complete('a'));
    assert.equal(rowsOf(lent, 'deliveries').length, 1);
  }));

test('W1 a webhook reports a state that is committed with the end, and values saved before', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a', hooked));
    await save(lent, 'a', 'c1', 1);
    const checkpoint: CheckpointText = {
      ...{ ns: '', checkpointId: 'c2', parentId: 'c1', body: '{}', metadata: {}, valueChannels: ['n', 'm'] },
      channelVersions: { n: 'c1', m: 'c2' },
      blobs: [{ channel: 'm', version: 'c2', data: '2' }],
    };
    await lent.done([ask.save('a', 'c2'), ask.complete('a')], {
      payloads: [{ kind: 'checkpoint', threadId: THREAD, runId: 'a', checkpoint }],
    });
    const [body] = rowsOf(lent, 'bodies').map(({ data }) => JSON.parse(String(data)) as { values: unknown });
    assert.deepEqual(body?.values, { n: 1, m: 2 });
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
    for (const table of ['threads', 'runs', 'texts', 'frames', 'secrets', 'queue'])
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
