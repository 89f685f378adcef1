import assert from 'node:assert/strict';
import { createItems } from '../../../src/actors/items.ts';
import { createStore } from '../../../src/actors/store.ts';
import { createCommitInterval } from '../../../src/effects/commit-interval.ts';
import { createExecution, type Execution } from '../../../src/effects/execution.ts';
import { openSubgraphLedger, type SubgraphLedger } from '../../../src/protocol/subgraph-frames.ts';
import { createRandom } from '../../support/random.ts';
import { THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { seededIds } from '../../support/with-log.ts';
import { toRunning, withThreads, type TestThreads } from '../actors/with-threads.ts';

const test = suite('effects/execution');

function open({ log, threads, clock }: TestThreads, ledger?: SubgraphLedger): Execution {
  const items = createItems({ log, clock, ids: seededIds(clock, createRandom(1)) });
  const onFault = (error: unknown): void => assert.fail(String(error));
  return createExecution({
    patiently: (ask) => ask(),
    ...{ log, threads, threadId: THREAD, lease: { runId: 'a', attempt: 1, leaseId: 'lease' } },
    ...{
      owesWebhook: false,
      temporary: false,
      sync: true,
      hasKept: false,
      isFirst: false,
      nextFrame: 0,
      ledger,
    },
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
    const differences = lent.behind((db) => db.prepare('SELECT count(bases) FROM frames').pluck().get());
    assert.equal(differences, 2);
    const read = await lent.log.payloads.frames('a', -1, 10);
    assert.deepEqual(
      read.map(({ event, data }) => ({ event, data })),
      frames,
    );
  }));

test('S1 a frame that graph code shows while its end is being committed takes no id', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const execution = open(lent);
    await execution.link.emit([{ event: 'custom', data: '0' }]);
    const ended = execution.finish({ kind: 'error', error: 'Error', message: 'planned' });
    await assert.rejects(async () => execution.link.emit([{ event: 'custom', data: '"late"' }]));
    await ended;
    const read = await lent.log.payloads.frames('a', -1, 10);
    assert.deepEqual(
      read.map(({ id, event }) => [id, event]),
      [
        [0, 'custom'],
        [1, 'error'],
      ],
    );
  }));

test('a checkpoint counts the frames before it, without those that were dropped after it (S1)', () =>
  withThreads(async (lent) => {
    await lent.done(toRunning('a'));
    const execution = open(lent, openSubgraphLedger());
    const started = { event: 'lifecycle|a:1', data: '{"event":"started","namespace":["a:1"]}' };
    const plain = (data: string) => ({ event: 'custom', data });
    // given: six frames of graph code, of which the ledger drops the third and the fifth
    await execution.link.emit([started, plain('1'), started, plain('3'), started, plain('5')]);
    const checkpointOf = (frames: number) => ({
      ...{ ns: '', checkpointId: `c${frames}`, parentId: null, body: '{}', metadata: {}, blobs: [] },
      ...{ channelVersions: {}, valueChannels: [], step: frames, source: 'loop', frames },
    });
    // when: checkpoints are saved that precede some of them
    for (const frames of [1, 2, 3, 4, 5, 6]) await execution.link.checkpoints.save(checkpointOf(frames));
    // then
    const lastFrames = lent.behind((db) =>
      db.prepare("SELECT last_frame FROM texts WHERE kind = 'c' ORDER BY id").pluck().all(),
    );
    assert.deepEqual(lastFrames, [0, 1, 1, 2, 2, 3]);
    await execution.finish({ kind: 'success', next: [], interrupts: {} });
  }));

test.run();
