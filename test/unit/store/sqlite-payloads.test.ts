import assert from 'node:assert/strict';
import type { Json } from '../../../src/kernel/json.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { CheckpointText, PayloadWrite } from '../../../src/store/port/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, said } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, payloads');

const lend = (use: (given: TestLog) => Promise<void>): Promise<void> =>
  withLog(use, { projection: fakeProjection() });
const write = (log: EventLog, ...payloads: PayloadWrite[]) => log.commit(batch([], { payloads }));

/** A checkpoint whose channels have these versions; the blobs of `changed` come with it. */
function checkpoint(
  checkpointId: string,
  versions: Record<string, string>,
  changed: Record<string, Json>,
  more: Partial<CheckpointText> = {},
): CheckpointText {
  return {
    ns: '',
    checkpointId,
    parentId: null,
    body: `{"id":"${checkpointId}"}`,
    metadata: { step: 1 },
    channelVersions: versions,
    blobs: Object.entries(changed).map(([channel, value]) => ({
      channel,
      version: versions[channel]!,
      data: JSON.stringify(value),
    })),
    valueChannels: Object.keys(versions).filter((channel) => !channel.startsWith('__')),
    ...more,
  };
}

const saved = (text: CheckpointText, runId = 'r', threadId = 't'): PayloadWrite => ({
  kind: 'checkpoint',
  threadId,
  runId,
  checkpoint: text,
});

test('P3 a checkpoint stores only the changed channel, and each reads its own values', () =>
  lend(async ({ log, behind }) => {
    const long = { messages: 'x'.repeat(1000) };
    await write(
      log,
      saved(checkpoint('c1', { long: '1', n: '1', __start: '1' }, { long, n: 1, __start: 0 })),
    );
    await write(
      log,
      saved(checkpoint('c2', { long: '1', n: '2', __start: '1' }, { n: 2 }, { parentId: 'c1' })),
    );
    assert.equal(
      behind((db) => db.prepare("SELECT count(*) FROM texts WHERE kind = 'v'").pluck().get()),
      4,
    );
    assert.deepEqual((await log.payloads.values('t', 'c1'))?.parse(), { long, n: 1 });
    assert.deepEqual((await log.payloads.values('t', 'c2'))?.parse(), { long, n: 2 });
    assert.equal((await log.payloads.values('t', 'c3'))?.parse(), undefined);
    assert.equal((await log.payloads.values('other', 'c1'))?.parse(), undefined);
    const stored = await log.payloads.checkpoint('t', '', 'c2');
    assert.deepEqual(
      stored?.blobs.map(({ channel, version }) => `${channel} ${version}`),
      ['long 1', 'n 2', '__start 1'],
    );
    assert.equal(stored?.parentId, 'c1');
    assert.equal(stored?.body, '{"id":"c2"}');
  }));

test('P3 given tagged values, when values are read, then clients see them flat and blobs keep their form', () =>
  lend(async ({ log }) => {
    const messages = [{ $: 'message', v: { type: 'human', content: 'hi', id: 'm1' } }];
    const own = { $: 'object', v: { $: 'mine' } };
    const changed = {
      messages,
      at: { $: 'date', v: '2026-01-01T00:00:00.000Z' },
      gone: { $: 'undefined' },
      own,
    };
    await write(log, saved(checkpoint('c1', { messages: '1', at: '1', gone: '1', own: '1' }, changed)));
    assert.deepEqual((await log.payloads.values('t', 'c1'))?.parse(), {
      messages: [{ type: 'human', content: 'hi', id: 'm1' }],
      at: '2026-01-01T00:00:00.000Z',
      gone: null,
      own: { $: 'mine' },
    });
    const stored = await log.payloads.checkpoint('t', '', 'c1');
    assert.equal(stored?.blobs[0]?.data, JSON.stringify(messages));
  }));

test('given checkpoints of several namespaces, when they are listed, then newest first, narrowed as asked', () =>
  lend(async ({ log }) => {
    for (const id of ['c1', 'c2', 'c3'])
      await write(log, saved(checkpoint(id, {}, {}, { metadata: { step: Number(id[1]), source: 'loop' } })));
    await write(log, saved(checkpoint('c4', {}, {}, { ns: 'child:1' })));
    const list = async (filter: Parameters<EventLog['payloads']['checkpoints']>[1]): Promise<string[]> =>
      (await log.payloads.checkpoints('t', filter)).map(({ checkpointId }) => checkpointId);
    assert.deepEqual(await list({}), ['c4', 'c3', 'c2', 'c1']);
    assert.deepEqual(await list({ ns: '' }), ['c3', 'c2', 'c1']);
    assert.deepEqual(await list({ ns: '', before: 'c3' }), ['c2', 'c1']);
    assert.deepEqual(await list({ ns: '', limit: 1 }), ['c3']);
    assert.deepEqual(await list({ metadata: { step: 2 } }), ['c2']);
    assert.deepEqual(await list({ metadata: { "step' OR 1=1 --": 2 } }), []);
    assert.equal((await log.payloads.checkpoint('t', ''))?.checkpointId, 'c3');
    assert.equal((await log.payloads.checkpoint('t', 'child:1'))?.checkpointId, 'c4');
    assert.equal(await log.payloads.checkpoint('t', 'child:1', 'c1'), undefined);
  }));

test('repeated writes of a task replace their own and read back in order', () =>
  lend(async ({ log }) => {
    const writes = (taskId: string, ...data: string[]): PayloadWrite => ({
      kind: 'checkpoint-writes',
      ...{ threadId: 't', runId: 'r', ns: '', checkpointId: 'c1' },
      writes: data.map((text, idx) => ({ taskId, idx, channel: 'n', data: text })),
    });
    await write(log, saved(checkpoint('c1', {}, {})), writes('b', '1', '2'), writes('a', '3'));
    await write(log, writes('b', '4'));
    const stored = await log.payloads.checkpoint('t', '', 'c1');
    assert.deepEqual(
      stored?.writes.map(({ taskId, idx, data }) => [taskId, idx, data]),
      [
        ['a', 0, '3'],
        ['b', 0, '4'],
        ['b', 1, '2'],
      ],
    );
  }));

test("forgetting a rolled-back run's checkpoints leaves those of other runs whole", () =>
  lend(async ({ log, behind }) => {
    await write(log, saved(checkpoint('c1', { a: '1', b: '1' }, { a: 1, b: 1 }), 'kept'));
    await write(log, saved(checkpoint('c2', { a: '2', b: '1' }, { a: 2 }), 'undone'));
    await write(log, { kind: 'forget-checkpoints', threadId: 't', runId: 'undone', kept: [] });
    assert.deepEqual((await log.payloads.values('t', 'c1'))?.parse(), { a: 1, b: 1 });
    assert.equal((await log.payloads.values('t', 'c2'))?.parse(), undefined);
    assert.equal(
      behind((db) => db.prepare("SELECT count(*) FROM texts WHERE kind = 'v'").pluck().get()),
      2,
    );
  }));

test('S1 frames read from any id are unchanged and in order', () =>
  lend(async ({ log }) => {
    const texts = [
      '{"b":1,"a":2}',
      '"\\ud83d\\ude00 😀"',
      '12345678901234567890',
      '"\\ud800"',
      '{"a":1e400}',
    ];
    const frames = texts.map((data, i) => ({ event: i % 2 === 0 ? 'values' : 'messages|x', data }));
    const put = (first: number, some: typeof frames) =>
      write(log, { kind: 'frames', runId: 'r', threadId: 't', first, frames: some });
    assert.equal(await log.payloads.lastFrame('r'), -1);
    await put(0, frames.slice(0, 3));
    await put(3, frames.slice(3));
    const stored = await log.payloads.frames('r', -1, 100);
    const all = frames.map((frame, id) => ({ id, ...frame, at: stored[id]?.at }));
    assert.ok(stored.every(({ at }) => at > 0));
    assert.deepEqual(stored, all);
    assert.deepEqual(await log.payloads.frames('r', 1, 2), all.slice(2, 4));
    assert.deepEqual(await log.payloads.frames('other', -1, 100), []);
    assert.equal(await log.payloads.lastFrame('r'), 4);
    await assert.rejects(async () => put(4, frames.slice(0, 1)), /already/);
    assert.deepEqual(await log.payloads.frames('r', -1, 100), all);
    await write(log, { kind: 'forget-frames', runId: 'r', threadId: 't' });
    assert.equal(await log.payloads.lastFrame('r'), -1);
  }));

test('L1 events with every awkward text read back unchanged after a restart', () =>
  lend(async ({ log, reopen }) => {
    const awkward = {
      z: 1,
      a: 2,
      '10': 'ten',
      big: 9007199254740993,
      tiny: 5e-324,
      long: 1.7976931348623157e308,
      emoji: '👩‍👩‍👧‍👦',
      lone: '\ud800',
      nul: 'a\u0000b',
      nested: [[[{ '': null }]]],
      large: 'ß'.repeat(5_000_000),
    };
    const [text, ...rest] = [JSON.stringify(awkward), JSON.stringify(awkward.large)];
    await log.commit(batch([{ stream: 's', expected: 0, events: [said('x', awkward)], snapshot: awkward }]));
    await write(log, { kind: 'secret', runId: 'r', threadId: 't', data: text! });
    await write(log, { kind: 'body', deliveryId: 'd', threadId: 't', data: rest[0]! });
    const again = await reopen();
    const [event] = await again.readStream('s', 1, 1);
    assert.ok(event?.type === 'ThreadUpdated');
    assert.ok(
      JSON.stringify(event.data.metadata) === JSON.stringify({ text: 'x', ...awkward }),
      'the fact changed',
    );
    assert.ok(JSON.stringify((await again.loadSnapshot('s'))?.state) === text, 'the snapshot changed');
    assert.ok((await again.payloads.secret('r')) === text, 'the secret changed');
    assert.ok((await again.payloads.body('d')) === rest[0], 'the body changed');
  }));

test('A4 W1 given secrets and bodies, when they are erased, then each vanishes alone', () =>
  lend(async ({ log, behind }) => {
    for (const id of ['one', 'two'])
      await write(
        log,
        { kind: 'secret', runId: id, threadId: 't', data: `secret ${id}` },
        { kind: 'body', deliveryId: id, threadId: 't', data: `body ${id}` },
      );
    await write(log, { kind: 'erase-secret', runId: 'one' }, { kind: 'erase-body', deliveryId: 'two' });
    assert.equal(await log.payloads.secret('one'), undefined);
    assert.equal(await log.payloads.secret('two'), 'secret two');
    assert.equal(await log.payloads.body('one'), 'body one');
    assert.equal(await log.payloads.body('two'), undefined);
    assert.equal(
      behind((db) => db.prepare('SELECT count(*) FROM secrets').pluck().get()),
      1,
    );
  }));

test('L3 of a purged thread only tombstone, snapshot and owed bodies remain in any table', () =>
  lend(async ({ log, behind }) => {
    const value = 'private '.repeat(10_000);
    const of = (threadId: string): PayloadWrite[] => [
      saved(checkpoint('c1', { a: '1' }, { a: value }), `run-${threadId}`, threadId),
      {
        kind: 'checkpoint-writes',
        ...{ threadId, runId: `run-${threadId}`, ns: '', checkpointId: 'c1' },
        writes: [{ taskId: 'x', idx: 0, channel: 'a', data: '1' }],
      },
      {
        kind: 'frames',
        ...{ runId: `run-${threadId}`, threadId, first: 0 },
        frames: [{ event: 'values', data: JSON.stringify('long '.repeat(400)) }],
      },
      { kind: 'secret', runId: `run-${threadId}`, threadId, data: '{}' },
      { kind: 'body', deliveryId: `delivery-${threadId}`, threadId, data: '{}' },
    ];
    await log.commit(
      batch([append('thread-gone', 0, 'x'), append('thread-kept', 0, 'y')], { payloads: of('gone') }),
    );
    await write(log, ...of('kept'));
    const known = await log.payloads.values('gone', 'c1');
    await log.commit(
      batch(
        [
          {
            stream: 'thread-gone',
            expected: 1,
            events: [{ type: 'ThreadDeleted', data: { threadId: 'gone' } }],
          },
        ],
        {
          payloads: [{ kind: 'purge-thread', threadId: 'gone', stream: 'thread-gone', tombstone: 2 }],
        },
      ),
    );
    const counts = (threadId: string) =>
      behind((db) =>
        [
          'texts WHERE thread = (SELECT id FROM texts WHERE name = ?)',
          'frames WHERE thread = ?',
          'secrets WHERE thread_id = ?',
          'bodies WHERE thread_id = ?',
        ].map((rows) => db.prepare(`SELECT count(*) FROM ${rows}`).pluck().get(threadId)),
      );
    assert.deepEqual(counts('gone'), [0, 0, 0, 1]);
    assert.deepEqual(counts('kept'), [3, 1, 1, 1]);
    assert.equal((await log.readStream('thread-gone', 1, 10)).length, 1);
    assert.equal((await log.readStream('thread-kept', 1, 10)).length, 1);
    // The ids may come again with other values, even while a reader holds the deleted ones.
    await write(log, saved(checkpoint('c1', { a: '1' }, { a: 'other' }), 'run-gone', 'gone'));
    const values = [known, await log.payloads.values('gone', 'c1')].map((text) => text?.parse());
    assert.deepEqual(values, [{ a: value }, { a: 'other' }]);
  }));

test('L4 given old command ids, when they are forgotten, then young ones are still answered', () =>
  lend(async ({ log, clock }) => {
    const again = { repeatable: true };
    const [old, young] = [batch([append('s', 0, 'a')], again), batch([append('s', 1, 'b')], again)];
    await log.commit(old);
    await clock.advance(1_000);
    await log.commit(young);
    await write(log, { kind: 'forget-commands', before: clock.now(), limit: 1 });
    assert.equal((await log.commit(young)).kind, 'duplicate');
    assert.deepEqual(await log.commit(old), { kind: 'version-conflict', stream: 's' });
  }));

test.run();
