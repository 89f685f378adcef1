import assert from 'node:assert/strict';
import type { PayloadWrite } from '../../../src/log/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { batch } from '../../support/log-contract.ts';
import { lengthenCheckpoints } from '../../support/long-checkpoints.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('log/sqlite, forms of checkpoints');
const projection = fakeProjection();

test('P3 given a file of version 7, when it is opened, then its checkpoints read as before and new ones lean on them', () =>
  withLog(
    async (given) => {
      const list = Array.from({ length: 12 }, (_, i) => `${i} ${'as long as a message '.repeat(10)}`);
      const save = (count: number): PayloadWrite => ({
        ...{ kind: 'checkpoint', threadId: 't', runId: `r${count}` },
        checkpoint: {
          ...{ ns: '', checkpointId: `c${count}`, parentId: count === 1 ? null : `c${count - 1}` },
          ...{
            body: `{"id":"c${count}"}\n`,
            metadata: { step: count, thread_id: 't' },
            valueChannels: ['list'],
          },
          channelVersions: { list: String(count).padStart(4, '0') },
          blobs: [
            {
              ...{ channel: 'list', version: String(count).padStart(4, '0') },
              data: JSON.stringify(list.slice(0, count)),
            },
          ],
        },
      });
      const written: PayloadWrite = {
        ...{ kind: 'checkpoint-writes', threadId: 't', runId: 'r9', ns: '', checkpointId: 'c9' },
        writes: [{ taskId: 'task', idx: 0, channel: 'list', data: JSON.stringify(list.slice(9, 10)) }],
      };
      const payloads = [...Array.from({ length: 9 }, (_, i) => save(i + 1)), written];
      await given.log.commit(batch([], { payloads }));
      const before = await given.log.payloads.checkpoints('t', {});
      assert.equal(before.length, 9);
      await given.log.close();
      given.behind((db) => {
        lengthenCheckpoints(db);
        db.pragma('user_version = 7');
      });
      const log = await given.reopen();
      assert.deepEqual(await log.payloads.checkpoints('t', {}), before);
      await log.commit(batch([], { payloads: [save(10)] }));
      assert.deepEqual(await log.payloads.values('t', 'c10'), { list: list.slice(0, 10) });
      assert.deepEqual((await log.payloads.checkpoints('t', {})).slice(1), before);
      const leaning = given.behind((db) => db.prepare('SELECT base FROM write_rows').pluck().get());
      assert.ok(leaning !== null, 'the write is kept as a difference');
      const found = await log.payloads.checkpoints('t', { metadata: { step: 3 } });
      assert.deepEqual(
        found.map(({ checkpointId }) => checkpointId),
        ['c3'],
      );
      await log.commit(
        batch([], { payloads: [{ kind: 'forget-checkpoints', threadId: 't', runId: 'r10', kept: [] }] }),
      );
      assert.deepEqual(await log.payloads.checkpoints('t', {}), before);
    },
    { projection },
  ));

test.run();
