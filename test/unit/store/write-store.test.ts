/** P3 Writes of tasks against a model: the last of a name counts, through refused batches, rollbacks and purges. */
import * as assert from 'node:assert/strict';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { batch } from '../../support/batches.ts';
import { createRandom, seedFromEnv } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, writes of tasks');

const STEPS = 150;
const THREADS = ['t', 'u'];
const CHECKPOINTS = ['c1', '00000000-0000-7000-8000-000000000002'];
const TASKS = [
  'a',
  'b',
  'task 1',
  'AAAAAAAA-0000-5000-8000-000000000001',
  'aaaaaaaa-0000-5000-8000-000000000001',
];

type Written = { readonly runId: string; readonly data: string };

const saved = (threadId: string, checkpointId: string): PayloadWrite => ({
  ...{ kind: 'checkpoint', threadId, runId: 'base' },
  checkpoint: {
    ...{ ns: '', checkpointId, parentId: null, body: '{}', blobs: [] },
    ...{ metadata: {}, channelVersions: {}, valueChannels: [] },
  },
});

test('P3 after replaced, refused, rolled back and purged writes each read is the last acknowledged', async () => {
  const seed = seedFromEnv();
  const random = createRandom(seed);
  await withLog(
    async ({ log }) => {
      const model = new Map<string, Written[]>();
      const commit = (...payloads: PayloadWrite[]) => log.commit(batch([], { payloads }));
      for (const threadId of THREADS) for (const id of CHECKPOINTS) await commit(saved(threadId, id));

      const write = async (): Promise<void> => {
        const [threadId, checkpointId] = [random.pick(THREADS), random.pick(CHECKPOINTS)];
        const runId = random.pick(['r1', 'r2']);
        const isBad = random.chance(0.2);
        const writes = random
          .shuffle(TASKS)
          .slice(0, random.int(1, 4))
          .map((taskId) => {
            const [idx, data] = [random.int(-1, 1), String(random.int(0, 9999))];
            return { taskId, idx, channel: 'n', data };
          });
        const ns = isBad ? (null as unknown as string) : '';
        const under = commit({ kind: 'checkpoint-writes', threadId, runId, ns, checkpointId, writes });
        if (isBad) return assert.rejects(under);
        assert.equal((await under).kind, 'committed');
        for (const { taskId, idx, data } of writes) {
          const key = JSON.stringify([threadId, checkpointId, taskId, idx]);
          model.set(key, [...(model.get(key) ?? []), { runId, data }]);
        }
        return undefined;
      };
      const forget = async (which: (key: string[], written: Written) => boolean): Promise<void> => {
        for (const [key, all] of model) {
          const left = all.filter((written) => !which(JSON.parse(key) as string[], written));
          if (left.length > 0) model.set(key, left);
          else model.delete(key);
        }
      };

      for (let step = 0; step < STEPS; step++) {
        const threadId = random.pick(THREADS);
        const roll = random.int(1, 100);
        // Several share a transaction, and one of them may be refused.
        if (roll <= 80) await Promise.all(Array.from({ length: random.int(1, 3) }, write));
        else if (roll <= 92) {
          const runId = random.pick(['r1', 'r2']);
          await commit({ kind: 'forget-checkpoints', threadId, runId, kept: [] });
          await forget(([at], written) => at === threadId && written.runId === runId);
        } else {
          await commit(
            { kind: 'purge-thread', threadId, stream: `thread-${threadId}`, tombstone: 1 },
            ...CHECKPOINTS.map((id) => saved(threadId, id)),
          );
          await forget(([at]) => at === threadId);
        }
        const found: [string, string][] = [];
        for (const at of THREADS)
          for (const id of CHECKPOINTS)
            for (const { taskId, idx, data } of (await log.payloads.checkpoint(at, '', id))?.writes ?? [])
              found.push([JSON.stringify([at, id, taskId, idx]), data]);
        const expected = [...model].map(([key, all]) => [key, all.at(-1)!.data]);
        assert.deepEqual(found.sort(), expected.sort(), `SEED=${seed} step ${step}`);
      }
    },
    { projection },
  );
});

test("P3 the next value has little more than the writes of a step's 300 tasks, and all read as written", async () => {
  await withLog(
    async ({ log, behind }) => {
      const messages = Array.from({ length: 300 }, (_, i) => `${i} ${'.'.repeat(150)}`);
      const place = { threadId: 't', runId: 'r', ns: '', checkpointId: 'c1' };
      const writes = messages.map((text, i) => ({
        ...{ taskId: `task ${i}`, idx: 0, channel: 'log' },
        data: JSON.stringify([text]),
      }));
      const next = {
        ...{ ns: '', checkpointId: 'c2', parentId: 'c1', body: '{}', metadata: {} },
        ...{ channelVersions: { log: '2' }, valueChannels: ['log'] },
        blobs: [{ channel: 'log', version: '2', data: JSON.stringify(messages) }],
      };
      await log.commit(
        batch([], { payloads: [saved('t', 'c1'), { kind: 'checkpoint-writes', ...place, writes }] }),
      );
      await log.commit(
        batch([], { payloads: [{ kind: 'checkpoint', threadId: 't', runId: 'r', checkpoint: next }] }),
      );
      const lengths = behind((db) =>
        db.prepare("SELECT length(data) FROM texts WHERE kind <> 'c' ORDER BY kind").pluck().all(),
      ) as number[];
      assert.ok(lengths[0]! < lengths[1]! / 20, String(lengths));
      const value = (await log.payloads.values('t', 'c2'))?.parse();
      assert.deepEqual(value, { log: messages });
      const found = (await log.payloads.checkpoint('t', '', 'c1'))!.writes;
      assert.deepEqual(
        new Map(found.map(({ taskId, data }) => [taskId, data])),
        new Map(writes.map(({ taskId, data }) => [taskId, data])),
      );
    },
    { projection },
  );
});

test.run();
