/** Texts that one node makes differences from while another one erases or replaces them. */
import assert from 'node:assert/strict';
import type { Batch, CommitResult, EventLog } from '../../../src/store/port/log.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { batch, committed } from '../../support/batches.ts';
import { checkpoint, saved } from '../../support/payload-contract.ts';
import { withPostgres } from '../../support/postgres.ts';
import { shared } from '../../support/shared-server.ts';
import { suite } from '../../support/suite.ts';
import { withTwoNodes, type Nodes } from '../../support/two-nodes.ts';

const test = suite('store, texts of two nodes on PostgreSQL');
const url = shared(test, withPostgres);
const withNodes = (use: (nodes: Nodes) => Promise<void>): Promise<void> => withTwoNodes(url(), use);

const LONG = 'what all of them say '.repeat(100);
const bodyOf = (step: number): string => JSON.stringify({ step, text: LONG });
const saves = (step: number, body = bodyOf(step)): Batch => {
  const parentId = step === 1 ? null : `c${step - 1}`;
  return batch([], { payloads: [saved(checkpoint(`c${step}`, {}, {}, { parentId, body }), `r${step}`)] });
};
const forgets = (step: number): Batch =>
  batch([], { payloads: [{ kind: 'forget-checkpoints', threadId: 't', runId: `r${step}`, kept: [] }] });
const shows = (step: number): Batch =>
  batch([], {
    payloads: [
      {
        ...{ kind: 'frames', runId: `r${step}`, threadId: 't', first: 0 },
        frames: [{ event: 'values', data: bodyOf(step), state: 'whole' }],
      },
    ],
  });
const hides = (step: number): Batch =>
  batch([], { payloads: [{ kind: 'forget-frames', runId: `r${step}`, threadId: 't' }] });

const kinds = [
  {
    ...{ title: 'checkpoint', writes: saves, erases: forgets },
    read: async (log: EventLog, step: number) => (await log.payloads.checkpoint('t', '', `c${step}`))?.body,
  },
  {
    ...{ title: 'frame', writes: shows, erases: hides },
    read: async (log: EventLog, step: number) => (await log.payloads.frames(`r${step}`, -1, 1))[0]?.data,
  },
];
for (const { title, writes, erases, read } of kinds) {
  test(`L3 erase and write: a ${title} whose base is erased meanwhile differs from another one, or none`, () =>
    withNodes(async ({ one, other, hold, waits }) => {
      committed(await one.commit(writes(1)));
      committed(await other.commit(writes(2)));
      const [first, { result }] = await hold(erases(2), () => waits(writes(3)));
      committed(first as CommitResult);
      committed(await result);
      for (const log of [one, other]) {
        assert.equal(await read(log, 2), undefined);
        assert.equal(await read(log, 3), bodyOf(3));
      }
    }));

  test(`L3 write and erase: a ${title} that is written meanwhile is made whole before its base is erased`, () =>
    withNodes(async ({ one, other, hold, waits }) => {
      committed(await one.commit(writes(1)));
      const [first, { result }] = await hold(writes(2), () => waits(erases(1)));
      committed(first as CommitResult);
      committed(await result);
      assert.equal(await read(other, 1), undefined);
      assert.equal(await read(other, 2), bodyOf(2));
      committed(await other.commit(writes(3)));
      assert.equal(await read(one, 3), bodyOf(3));
    }));
}

test('P3 a checkpoint that another node has saved anew is no base as it was before', () =>
  withNodes(async ({ one, other }) => {
    committed(await one.commit(saves(1)));
    committed(await other.commit(saves(1, JSON.stringify({ step: 'anew', text: LONG }))));
    committed(await one.commit(saves(2)));
    assert.equal((await other.payloads.checkpoint('t', '', 'c2'))?.body, bodyOf(2));
    // when the thread is deleted elsewhere
    const purge = { kind: 'purge-thread', threadId: 't', stream: 'thread-t', tombstone: 1 } as const;
    committed(await other.commit(batch([], { payloads: [purge] })));
    // then its rows come anew
    committed(await one.commit(saves(3)));
    assert.deepEqual(
      (await other.payloads.checkpoints('t', {})).map(({ checkpointId }) => checkpointId),
      ['c3'],
    );
  }));

test('names of channels may have half a pair of UTF-16', () =>
  withNodes(async ({ one, other }) => {
    const name = 'a\ud800';
    const payloads = [saved(checkpoint('c1', { [name]: '1' }, { [name]: 1 }))];
    committed(await one.commit(batch([], { payloads })));
    const found = await other.payloads.checkpoint('t', '', 'c1');
    assert.deepEqual(
      found?.blobs.map(({ channel }) => channel),
      [name],
    );
  }));

test('P3 a chain of delta bases is read by its ids, whatever else is stored', async () => {
  const session = await connect(readAddress(url()));
  await session.ask(
    'CREATE TEMPORARY TABLE texts AS SELECT id::bigint, NULL AS bases FROM generate_series(1, 9000) AS id',
  );
  await session.ask('ALTER TABLE texts ADD PRIMARY KEY (id)');
  await session.ask('ANALYZE texts');
  const plan = await session.ask(`EXPLAIN WITH RECURSIVE chain (id) AS (
      SELECT 1::bigint UNION SELECT own.id FROM chain, json_array_elements_text('[2]') AS base, texts AS own WHERE own.id = base::bigint)
    SELECT * FROM texts WHERE id IN (SELECT id FROM chain)`);
  const lines = plan.map((row) => String(row['QUERY PLAN']));
  assert.ok(!lines.some((line) => line.includes('Seq Scan')), lines.join('\n'));
  await session.end();
});

test.run();
