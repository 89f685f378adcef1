import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PayloadWrite } from '../../../src/log/payloads.ts';
import { LOG_FILE } from '../../../src/log/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { batch } from '../../support/batches.ts';
import { lengthenCheckpoints } from '../../support/long-checkpoints.ts';
import { joinFrames } from '../../support/version-9.ts';
import { suite } from '../../support/suite.ts';
import { conversation, THREAD, writeVersion8 } from '../../support/version-8.ts';
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
        joinFrames(db);
        lengthenCheckpoints(db);
        db.pragma('user_version = 7');
      });
      const log = await given.reopen();
      assert.deepEqual(await log.payloads.checkpoints('t', {}), before);
      await log.commit(batch([], { payloads: [save(10)] }));
      assert.deepEqual((await log.payloads.values('t', 'c10'))?.parse(), { list: list.slice(0, 10) });
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

test('P3 given a file that version 8 wrote, when it is opened, then it reads as what is written today and goes on as that', () =>
  withLog(
    async (today) => {
      const payloads = conversation();
      await today.log.commit(batch([], { payloads }));
      const expected = (await today.log.payloads.checkpoints(THREAD, {})).map((each) => ({ ...each, at: 0 }));
      assert.equal(expected.length, 9);
      await withLog(
        async (given) => {
          await given.log.close();
          for (const end of ['', '-wal', '-shm'])
            rmSync(join(given.dir, `${LOG_FILE}${end}`), { force: true });
          given.behind(writeVersion8);
          const log = await given.reopen();
          const read = async () =>
            (await log.payloads.checkpoints(THREAD, {})).map((each) => ({ ...each, at: 0 }));
          assert.deepEqual(await read(), expected);
          assert.deepEqual(
            await log.payloads.outline(THREAD),
            await today.log.payloads.outline(THREAD),
            'outlines differ',
          );
          const last = payloads.findLast((each) => each.kind === 'checkpoint')!;
          const [parentId, checkpointId] = [last.checkpoint.checkpointId, 'one-more'];
          const next: PayloadWrite = { ...last, checkpoint: { ...last.checkpoint, checkpointId, parentId } };
          for (const each of [log, today.log])
            await each.commit(
              batch([], {
                payloads: [
                  next,
                  { kind: 'copy-checkpoints', from: THREAD, threadId: 'copy' },
                  { kind: 'forget-checkpoints', threadId: THREAD, runId: 'a run of a plain name', kept: [] },
                ],
              }),
            );
          for (const threadId of [THREAD, 'copy']) {
            const [mine, theirs] = await Promise.all(
              [log, today.log].map((each) => each.payloads.checkpoints(threadId, {})),
            );
            assert.deepEqual(
              mine!.map((each) => ({ ...each, at: 0 })),
              theirs!.map((each) => ({ ...each, at: 0 })),
            );
            assert.equal(mine!.length, threadId === 'copy' ? 10 : 7);
          }
        },
        { projection },
      );
    },
    { projection },
  ));

test('P3 given a batch that is refused after its ids got numbers, when the same ids come again, then they get theirs', () =>
  withLog(
    async (given) => {
      const [first] = conversation();
      const other = { ...(first as Extract<PayloadWrite, { kind: 'checkpoint' }>), runId: 'other' };
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
