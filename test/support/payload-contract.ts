/** What every log promises of payloads: tests for the suite of each log. */
import assert from 'node:assert/strict';
import type { Json } from '../../src/kernel/json.ts';
import type { EventLog } from '../../src/store/port/log.ts';
import type { CheckpointText, PayloadWrite } from '../../src/store/port/payloads.ts';
import { append, batch } from './batches.ts';
import type { LendLog } from './log-contract.ts';
import type { suite } from './suite.ts';

export const write = (log: EventLog, ...payloads: PayloadWrite[]) => log.commit(batch([], { payloads }));

/** A checkpoint whose channels have these versions; the blobs of `changed` come with it. */
export function checkpoint(
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

export const saved = (text: CheckpointText, runId = 'r', threadId = 't'): PayloadWrite => ({
  kind: 'checkpoint',
  threadId,
  runId,
  checkpoint: text,
});

async function countValues(log: EventLog): Promise<number> {
  const { channels } = await log.payloads.storage('t');
  return channels.reduce((sum, { count }) => sum + count, 0);
}

export function payloadContract(test: ReturnType<typeof suite>, lend: LendLog): void {
  test('names of channels, tasks and graphs may have a NUL and control characters', () =>
    lend(async ({ log }) => {
      const names = ['a\0b', '\u0001', '\u00010000', '\0\u0001'];
      for (const [at, name] of names.entries()) {
        const written = [{ taskId: name, idx: 0, channel: name, data: '1' }];
        const text = checkpoint(`c${at}`, { [name]: '1' }, { [name]: at }, { ns: name });
        const where = { threadId: 't', runId: 'r', ns: name, checkpointId: `c${at}` };
        await write(log, saved(text), { kind: 'checkpoint-writes', ...where, writes: written });
      }
      for (const [at, name] of names.entries()) {
        const found = await log.payloads.checkpoint('t', name);
        assert.deepEqual(found?.blobs, [{ channel: name, version: '1', data: String(at) }]);
        assert.deepEqual(
          found?.writes.map(({ taskId, channel }) => [taskId, channel]),
          [[name, name]],
        );
      }
    }));

  test('P3 a checkpoint stores only the changed channel, and each reads its own values', () =>
    lend(async ({ log }) => {
      const long = { messages: 'x'.repeat(1000) };
      await write(
        log,
        saved(checkpoint('c1', { long: '1', n: '1', __start: '1' }, { long, n: 1, __start: 0 })),
      );
      await write(
        log,
        saved(checkpoint('c2', { long: '1', n: '2', __start: '1' }, { n: 2 }, { parentId: 'c1' })),
      );
      assert.equal(await countValues(log), 4);
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
        await write(
          log,
          saved(checkpoint(id, {}, {}, { metadata: { step: Number(id[1]), source: 'loop' } })),
        );
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
    lend(async ({ log }) => {
      await write(log, saved(checkpoint('c1', { a: '1', b: '1' }, { a: 1, b: 1 }), 'kept'));
      await write(log, saved(checkpoint('c2', { a: '2', b: '1' }, { a: 2 }), 'undone'));
      await write(log, { kind: 'forget-checkpoints', threadId: 't', runId: 'undone', kept: [] });
      assert.deepEqual((await log.payloads.values('t', 'c1'))?.parse(), { a: 1, b: 1 });
      assert.equal((await log.payloads.values('t', 'c2'))?.parse(), undefined);
      assert.equal(await countValues(log), 2);
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
      const repeated = await put(4, frames.slice(0, 1)).catch(() => undefined);
      assert.notEqual(repeated?.kind, 'committed');
      assert.deepEqual(await log.payloads.frames('r', -1, 100), all);
      await write(log, { kind: 'forget-frames', runId: 'r', threadId: 't' });
      assert.equal(await log.payloads.lastFrame('r'), -1);
    }));

  test('A4 W1 given secrets and bodies, when they are erased, then each vanishes alone', () =>
    lend(async ({ log }) => {
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
    }));

  test('P3 L3 texts that differ from others read as before when those are copied, replaced or gone', () =>
    lend(async ({ log }) => {
      // given
      const text = 'what all of them say '.repeat(40);
      const save = (count: number, step: number): PayloadWrite =>
        saved(
          checkpoint(
            `c${count}`,
            { long: `${count}` },
            { long: `${text}${count}` },
            { parentId: count === 1 ? null : `c${count - 1}`, metadata: { step, thread_id: 't' } },
          ),
          `r${count}`,
        );
      for (const count of [1, 2, 3, 4]) await write(log, save(count, count));
      const read = async (threadId: string) =>
        (await log.payloads.checkpoints(threadId, {})).map(({ checkpointId, metadata, blobs }) => ({
          ...{ checkpointId, metadata },
          long: blobs[0]!.data,
        }));
      const of = (count: number, step: number, threadId = 't') => ({
        ...{ checkpointId: `c${count}`, metadata: { step, thread_id: threadId } },
        long: JSON.stringify(`${text}${count}`),
      });
      // when, then
      await write(log, { kind: 'copy-checkpoints', from: 't', threadId: 'copy' });
      await write(log, save(2, 20));
      assert.deepEqual(await read('t'), [of(4, 4), of(3, 3), of(2, 20), of(1, 1)]);
      await write(log, { kind: 'forget-checkpoints', threadId: 't', runId: 'r3', kept: [] });
      assert.deepEqual(await read('t'), [of(4, 4), of(2, 20), of(1, 1)]);
      await write(log, { kind: 'keep-checkpoints', threadId: 't', kept: [{ ns: '', checkpointId: 'c4' }] });
      assert.deepEqual(await read('t'), [of(4, 4)]);
      const copied = [4, 3, 2, 1].map((count) => of(count, count, 'copy'));
      assert.deepEqual(await read('copy'), copied);
      await log.commit(
        batch([append('thread-t', 0, 'x')], {
          payloads: [{ kind: 'purge-thread', threadId: 't', stream: 'thread-t', tombstone: 1 }],
        }),
      );
      assert.deepEqual(await read('t'), []);
      assert.deepEqual(await read('copy'), copied);
    }));

  test('an import becomes the checkpoints of its thread, once', () =>
    lend(async ({ log }) => {
      const begun = { kind: 'begin-import', storageKey: 'import one', threadId: 't' } as const;
      await write(log, begun, saved(checkpoint('c1', { a: '1' }, { a: 1 }), 'r', begun.storageKey));
      assert.equal(await log.payloads.checkpoint('t', ''), undefined);
      await write(log, { ...begun, kind: 'complete-import' });
      assert.deepEqual((await log.payloads.values('t', 'c1'))?.parse(), { a: 1 });
      await assert.rejects(write(log, { ...begun, kind: 'complete-import' }), RangeError);
    }));
}
