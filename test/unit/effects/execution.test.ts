import assert from 'node:assert/strict';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { createCommitInterval } from '../../../src/effects/commit-interval.ts';
import { createExecution, type Execution } from '../../../src/effects/execution.ts';
import { createRandom } from '../../support/random.ts';
import { THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { toRunning, withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/execution');

function open({ log, threads, clock }: TestThreads): Execution {
  const items = createItems({ log, clock, ids: seededIds(clock, createRandom(1)) });
  const onFault = (error: unknown): void => assert.fail(String(error));
  return createExecution({
    ...{ log, threads, threadId: THREAD, lease: { runId: 'a', attempt: 1, leaseId: 'lease' } },
    ...{ owesWebhook: false, temporary: false, sync: true, nextFrame: 0, ledger: undefined },
    ...{ isRead: () => true, onBegun: () => undefined, onFenced: () => assert.fail('fenced') },
    ...{ commitInterval: createCommitInterval(clock), lingerClock: clock },
    store: createStore({
      ...{ log, items, clock, onFault, embedder: undefined },
      ttl: { refreshOnRead: false, defaultTtl: null },
    }),
  });
}

test('P3 frames that repeat the state are stored as differences, others as they are', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const execution = open(lent);
    const state = (words: number): string =>
      JSON.stringify({ messages: Array.from({ length: words }, (_, index) => `word ${index}`) });

    // when: a run shows a growing state, alone and within other data, and custom output of the same text
    const frames = [
      { event: 'values', data: state(300) },
      { event: 'values', data: state(310) },
      { event: 'checkpoints', data: `{"values":${state(310)},"next":[]}` },
      { event: 'custom', data: state(310) },
    ];
    await execution.link.emit(frames);
    await execution.finish({ kind: 'success', next: [], interrupts: {} });

    // then: the second state and the checkpoint are differences, and every frame reads as it was
    const differences = lent.behind((db) =>
      db.prepare('SELECT count(*) FROM frame_states WHERE base IS NOT NULL').pluck().get(),
    );
    assert.equal(differences, 2);
    const read = await lent.log.payloads.frames('a', -1, 10);
    assert.deepEqual(
      read.map(({ event, data }) => ({ event, data })),
      frames,
    );
  }));

test.run();
