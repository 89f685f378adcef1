import assert from 'node:assert/strict';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, texts of checkpoints');

const save = (count: number, body: string): PayloadWrite => ({
  ...{ kind: 'checkpoint', threadId: 't', runId: `r${count}` },
  checkpoint: {
    ...{ ns: '', checkpointId: `c${count}`, parentId: count === 1 ? null : `c${count - 1}` },
    ...{ body, metadata: { step: count }, valueChannels: [], channelVersions: {}, blobs: [] },
  },
});

test('P3 X4 a text of too many pieces for a difference is stored whole, and all others read as before', () =>
  withLog(async ({ log, behind }) => {
    // A name in it may be one long row of quotes.
    const long = JSON.stringify({ id: '"'.repeat(60_000) });
    const bodies = ['{"id":"c1"}', long, '{"id":"c3"}', '{"id":"c4"}', long, '{"id":"c6"}'];
    for (const [index, body] of bodies.entries())
      await log.commit(batch([], { payloads: [save(index + 1, body)] }));
    const rows = behind((db) =>
      db
        .prepare(
          `SELECT substr(packed, 1, 1) AS mark, length(packed) > 60000 AS isLong,
             base IS NOT NULL AS leans FROM checkpoint_rows ORDER BY id`,
        )
        .all(),
    );
    const [alone, whole, leaning] = [
      { mark: '=', isLong: 0, leans: 0 },
      { mark: '{', isLong: 1, leans: 0 },
      { mark: '=', isLong: 0, leans: 1 },
    ];
    assert.deepEqual(rows, [alone, whole, alone, leaning, whole, alone]);
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

test.run();
