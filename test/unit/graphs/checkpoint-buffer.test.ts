import * as assert from 'node:assert/strict';
import { createCheckpointBuffer } from '../../../src/graphs/checkpoint-buffer.ts';
import type { NewCheckpoint } from '../../../src/graphs/port.ts';
import { createMemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { suite } from '../../support/suite.ts';

const test = suite('checkpoint buffer');

const checkpoint = (id: string, parentId: string | null, versions: Record<string, string>, own: string[]) =>
  ({
    ns: '',
    checkpointId: id,
    parentId,
    body: '{}',
    metadata: { id },
    channelVersions: versions,
    blobs: own.map((channel) => ({ channel, version: versions[channel]!, data: `"${channel} ${id}"` })),
    valueChannels: Object.keys(versions),
    step: 0,
    source: 'update',
  }) satisfies NewCheckpoint;

const write = (taskId: string, idx: number, data: string) => ({ taskId, idx, channel: 'a', data });

test('D1 reads of a buffer see stored and buffered checkpoints; the store sees no buffered one', async () => {
  const base = createMemoryCheckpoints();
  await base.save(checkpoint('1', null, { a: '1', b: '1' }, ['a', 'b']));
  await base.saveWrites('', '1', [write('t', 0, 'old'), write('t', 1, 'kept')]);
  const before = base.text();
  const buffer = createCheckpointBuffer(base, () => 7);

  assert.equal((await buffer.load(''))?.checkpointId, '1');
  await buffer.save(checkpoint('2', '1', { a: '2', b: '1' }, ['a']));
  await buffer.saveWrites('', '1', [write('t', 0, 'new'), write('s', 0, 'other')]);
  await buffer.saveWrites('', '2', [write('u', 0, 'mine')]);

  const head = await buffer.load('');
  assert.deepEqual([head?.checkpointId, head?.at, head?.writes.map(({ data }) => data)], ['2', 7, ['mine']]);
  assert.deepEqual(
    head?.blobs.map(({ data }) => data),
    ['"a 2"', '"b 1"'],
  );
  const root = await buffer.load('', '1');
  assert.deepEqual(
    root?.writes.map(({ taskId, idx, data }) => `${taskId}${idx} ${data}`),
    ['s0 other', 't0 new', 't1 kept'],
  );
  assert.equal(await buffer.load('elsewhere'), undefined);
  assert.equal(await buffer.load('', '3'), undefined);
  assert.equal(base.text(), before, 'nothing went through');

  // Stored in this order, it reads as it did from the buffer.
  for (const each of buffer.saved)
    if (each.kind === 'checkpoint') await base.save(each.checkpoint);
    else await base.saveWrites(each.ns, each.checkpointId, each.writes);
  const stored = await base.load('');
  assert.deepEqual({ ...stored, at: 7 }, { ...head });
});

test.run();
