import type { CheckpointText } from '../../../src/store/port/payloads.ts';
import type { Outcome } from '../../../src/thread/events.ts';
import { ask, THREAD } from '../../support/given.ts';
import { batch } from '../../support/batches.ts';
import { withThreads, type TestThreads } from '../actors/with-threads.ts';

export interface Past extends TestThreads {
  /** The position of the log's last fact. */
  head(): Promise<number>;
}

export const OTHER = '01980000-0000-7000-8000-000000000002';

const kwargs = {
  ...{ input: { q: 1 }, config: {}, streamMode: [], streamSubgraphs: false },
  webhook: 'https://example.com/hook',
};

/** A checkpoint whose one channel holds `n`. */
const checkpoint = (checkpointId: string, n: number): CheckpointText => ({
  ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {}, valueChannels: ['n'] },
  channelVersions: { n: checkpointId },
  blobs: [{ channel: 'n', version: checkpointId, data: String(n) }],
});

/**
 * Lends a log with a short life in it: two threads, runs that failed, waited, were retried, cancelled and paused, and
 * a webhook that was tried twice. `step` is told after every commit.
 */
export function withPast<T>(
  use: (past: Past) => Promise<T>,
  step: (past: Past) => Promise<void> = async () => undefined,
): Promise<T> {
  return withThreads(async (lent) => {
    const past: Past = Object.assign(Object.create(lent) as TestThreads, {
      head: async () => (await lent.log.readAll(0, 10_000)).at(-1)?.meta.position ?? 0,
    });
    const then = async (done: Promise<unknown>): Promise<void> => {
      await done;
      await step(past);
      await lent.clock.advance(1_000);
    };
    const save = (runId: string, id: string, n: number, attempt: number, leaseId: string) =>
      lent.done(ask.save(runId, id, attempt, leaseId), {
        payloads: [{ kind: 'checkpoint', threadId: THREAD, runId, checkpoint: checkpoint(id, n) }],
      });
    await then(lent.done(ask.createThread({ topic: 'a' })));
    await then(lent.threads.dispatch(OTHER, [ask.createThread({ topic: 'b' }, OTHER), ask.createRun('z')]));
    await then(lent.done(ask.createRun('a', 'reject', { kwargs, metadata: { m: 1 } })));
    await then(lent.done(ask.start('a', 'l1')));
    await then(save('a', 'c1', 1, 1, 'l1'));
    await then(lent.done(ask.abandon('a')));
    await then(lent.done([ask.start('a', 'l2'), ask.createRun('b')]));
    await then(save('a', 'c2', 2, 2, 'l2'));
    const origin = { node: 'think', step: 3, stack: 'E: broken\n    at think (/graph.ts:1:2)' };
    await then(
      lent.done(ask.complete('a', { kind: 'error', error: 'E', message: 'broken', origin }, 2, 'l2')),
    );
    await then(lent.done(ask.updateThread({ topic: 'c' })));
    await then(lent.done(ask.start('b', 'l3')));
    await then(lent.done(ask.cancel('b')));
    const paused: Outcome = { kind: 'success', next: ['ask'], interrupts: { t: [{ id: 'i', value: '?' }] } };
    await then(lent.done(ask.complete('b', paused, 1, 'l3')));
    const deliveryId = String(lent.rows.get('SELECT delivery_id FROM deliveries')?.['delivery_id']);
    const stream = `delivery-${deliveryId}`;
    const failed = {
      deliveryId,
      attempt: 1,
      status: null,
      error: 'refused',
      ms: 2,
      nextAt: lent.clock.now(),
    };
    await then(
      lent.log.commit(
        batch([{ stream, expected: 1, events: [{ type: 'WebhookAttemptFailed', data: failed }] }]),
      ),
    );
    const delivered = { deliveryId, attempt: 2, status: 200, ms: 5 };
    await then(
      lent.log.commit(
        batch([{ stream, expected: 2, events: [{ type: 'WebhookDelivered', data: delivered }] }]),
      ),
    );
    return use(past);
  });
}
