import assert from 'node:assert/strict';
import { collectStates, listInPieces } from '../../../src/graphs/history-pages.ts';
import type { CheckpointQuery, GraphState } from '../../../src/graphs/port.ts';
import { JsonText } from '../../../src/kernel/json-text.ts';
import { logCheckpoints } from '../../support/log-checkpoints.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('graphs/history-pages');

const THREAD = '01970000-0000-7000-8000-000000000000';

/** Checkpoints of one namespace, oldest first, each with a value of so many characters of its own. */
const sizes = [3, 7, 1, 20, 6, 2, 9].map((millions) => millions * 1_000_000);

test('S3 checkpoints with large values are listed in chunks, in order, up to the limit', () =>
  withLog(async ({ log }) => {
    const store = logCheckpoints(log, THREAD);
    for (const [i, size] of sizes.entries())
      await store.save({
        ...{ ns: '', checkpointId: `c${i}`, parentId: i === 0 ? null : `c${i - 1}` },
        ...{ step: i, source: 'loop', body: '{}', metadata: { even: i % 2 === 0 } },
        channelVersions: { text: String(i) },
        valueChannels: ['text'],
        blobs: [{ channel: 'text', version: String(i), data: JSON.stringify('x'.repeat(size - 2)) }],
      });
    const list = async (query: CheckpointQuery) => {
      const pieces: number[] = [];
      const counted = {
        ...store,
        async list(asked: CheckpointQuery) {
          const piece = await store.list(asked);
          pieces.push(piece.length);
          return piece;
        },
      };
      const found: string[] = [];
      for await (const { checkpointId } of listInPieces(counted, query)) found.push(checkpointId);
      return { found: found.join(' '), pieces };
    };
    assert.deepEqual(await list({ ns: '' }), { found: 'c6 c5 c4 c3 c2 c1 c0', pieces: [3, 1, 3] });
    assert.deepEqual(await list({ ns: '', limit: 4 }), { found: 'c6 c5 c4 c3', pieces: [3, 1] });
    assert.deepEqual(await list({ ns: '', before: 'c4', limit: 2 }), { found: 'c3 c2', pieces: [1, 1] });
    const metadata = { even: true };
    assert.deepEqual(await list({ ns: '', metadata }), { found: 'c6 c4 c2 c0', pieces: [4, 0] });
    assert.deepEqual(await list({}), { found: 'c6 c5 c4 c3 c2 c1 c0', pieces: [7] });
  }));

test('S3 nested states count towards the size limit of a response', () => {
  const stateOf = (size: number, within: GraphState | null = null): GraphState => ({
    ...{ values: new JsonText('x'.repeat(size)), next: [], interrupts: [], createdAt: null },
    ...{ checkpoint: null, parentCheckpoint: null },
    tasks: [
      {
        id: 't',
        name: 't',
        path: [],
        error: null,
        interrupts: [],
        checkpoint: null,
        state: within,
        result: null,
      },
    ],
  });
  const { add, states } = collectStates(10);
  assert.deepEqual([add(stateOf(4)), add(stateOf(3, stateOf(3))), add(stateOf(1))], [true, true, false]);
  assert.equal(states.length, 2);
});

test.run();
