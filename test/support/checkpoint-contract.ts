/** What every log promises of the texts of checkpoints. Its tests are run once for each engine. */
import assert from 'node:assert/strict';
import type { PayloadWrite } from '../../src/store/port/payloads.ts';
import { batch } from './batches.ts';
import type { LendPayloadLog } from './payload-log.ts';
import type { suite } from './suite.ts';

const save = (count: number, body: string): PayloadWrite => ({
  ...{ kind: 'checkpoint', threadId: 't', runId: `r${count}` },
  checkpoint: {
    ...{ ns: '', checkpointId: `c${count}`, parentId: count === 1 ? null : `c${count - 1}` },
    ...{ body, metadata: { step: count }, valueChannels: [], channelVersions: {}, blobs: [] },
  },
});

export function checkpointContract(test: ReturnType<typeof suite>, lend: LendPayloadLog): void {
  test('P3 X4 a text of very many pieces is stored whole, and all others read as before', () =>
    lend(async ({ log, ask }) => {
      // A name in it may be one long row of quotes.
      const long = JSON.stringify({ id: '"'.repeat(60_000) });
      const bodies = ['{"id":"c1"}', long, '{"id":"c3"}', '{"id":"c4"}', long, '{"id":"c6"}'];
      for (const [index, body] of bodies.entries())
        await log.commit(batch([], { payloads: [save(index + 1, body)] }));
      const stored = await ask("SELECT octet_length(data) AS bytes FROM texts WHERE kind = 'c' ORDER BY id");
      assert.deepEqual(
        stored.map(({ bytes }) => (bytes as number) > 60_000),
        [false, true, false, false, true, false],
      );
      const read = async () =>
        (await log.payloads.checkpoints('t', {})).map(({ checkpointId, body }) => [checkpointId, body]);
      const saved = bodies.map((body, index) => [`c${index + 1}`, body]).reverse();
      assert.deepEqual(await read(), saved);
      const found = await log.payloads.checkpoints('t', { metadata: { step: 2 } });
      assert.deepEqual(
        found.map(({ body }) => body),
        [long],
      );
      await log.commit(
        batch([], { payloads: [{ kind: 'forget-checkpoints', threadId: 't', runId: 'r3', kept: [] }] }),
      );
      assert.deepEqual(
        await read(),
        saved.filter(([id]) => id !== 'c3'),
      );
    }));

  test('P3 what a refused batch saw is no base of what comes after it', () =>
    lend(async ({ log }) => {
      // given
      const [first, second, third] = ['one', 'two', 'three'].map((word, index) =>
        save(index + 1, JSON.stringify({ word, text: 'the same in all of them '.repeat(20) })),
      ) as [PayloadWrite, PayloadWrite, PayloadWrite];
      const bad = {
        kind: 'checkpoint-writes',
        threadId: 't',
        runId: 'r',
        ns: '',
        checkpointId: 'c',
      } as const;
      const writes = [{ taskId: 't', idx: 0, channel: 'n', data: '1' }];
      const refused = { ...bad, writes, ns: null as unknown as string };
      // when
      const results = await Promise.allSettled([
        log.commit(batch([], { payloads: [first] })),
        log.commit(batch([], { payloads: [second, refused] })),
        log.commit(batch([], { payloads: [third] })),
      ]);
      // then
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      const words = (await log.payloads.checkpoints('t', {})).map(({ body }) => JSON.parse(body).word);
      assert.deepEqual(words, ['three', 'one']);
      // when the thread is purged and its ids come again
      const purge = { kind: 'purge-thread', threadId: 't', stream: 'thread-t', tombstone: 1 } as const;
      await log.commit(batch([], { payloads: [purge, third] }));
      // then
      assert.equal((await log.payloads.checkpoints('t', {})).length, 1);
    }));
}
