import assert from 'node:assert/strict';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, names of checkpoints');
const projection = fakeProjection();

const THREAD = 'thread';
const CHECKPOINT: PayloadWrite = {
  ...{ kind: 'checkpoint', threadId: THREAD, runId: 'run' },
  checkpoint: {
    ...{ ns: '', checkpointId: 'c1', parentId: null, body: '{"v":4,"id":"c1"}', metadata: { step: 1 } },
    ...{ channelVersions: { messages: '1' }, valueChannels: ['messages'] },
    blobs: [{ channel: 'messages', version: '1', data: '["hi"]' }],
  },
};

test('P3 ids of a refused batch get their numbers when they come again', () =>
  withLog(
    async (given) => {
      const other = { ...CHECKPOINT, runId: 'other' };
      const refused = { kind: 'checkpoint-writes', threadId: THREAD, runId: 'r', ns: '', checkpointId: 'c' };
      const bad = { ...refused, writes: [{ taskId: 't', idx: 0, channel: null, data: '1' }] };
      const results = await Promise.allSettled([
        given.log.commit(batch([], { payloads: [other, bad as unknown as PayloadWrite] })),
        given.log.commit(batch([], { payloads: [{ ...other, threadId: 'elsewhere' }] })),
        given.log.commit(batch([], { payloads: [other] })),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'fulfilled', 'fulfilled'],
      );
      for (const threadId of [THREAD, 'elsewhere']) {
        assert.equal((await given.log.payloads.outline(threadId))[0]?.runId, 'other');
        await given.log.commit(batch([], { payloads: [{ ...other, threadId, runId: 'later' }] }));
        assert.equal((await given.log.payloads.checkpoints(threadId, {})).length, 1);
      }
      await given.log.commit(
        batch([], {
          payloads: [
            { kind: 'purge-thread', threadId: THREAD, stream: `thread-${THREAD}`, tombstone: 1 },
            other,
          ],
        }),
      );
      assert.equal((await given.log.payloads.outline(THREAD))[0]?.runId, 'other');
      assert.equal((await given.log.payloads.outline('elsewhere'))[0]?.runId, 'other');
    },
    { projection },
  ));

test.run();
