import * as assert from 'node:assert/strict';
import { Annotation, DeltaChannel, interrupt, StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { validate } from '@langchain/langgraph-checkpoint-validation';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createDecoder } from '../../../src/graphs/codec.ts';
import type { CheckpointTuple, Saver, SaverConfig } from '../../../src/graphs/langgraph/saver-contract.ts';
import { openSaver } from '../../../src/graphs/langgraph/saver.ts';
import { createMemoryCheckpoints, type MemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { manyThreads } from '../../support/many-threads.ts';
import { suite } from '../../support/suite.ts';
import { ids, openBench } from './harness.ts';
import { runSpecs } from './spec-runner.ts';

const test = suite('langgraph saver');

const saverOf = (store: MemoryCheckpoints, fail: (error: unknown) => void = rethrow): Saver =>
  openSaver({
    threadId: 't',
    store,
    decode: createDecoder(),
    ids,
    runId: 'r',
    metadata: {},
    valueChannels: [],
    fail,
  });

const rethrow = (error: unknown): never => {
  throw error;
};

test("the saver passes the library's validation suite", async () => {
  const results = await runSpecs(() =>
    validate({
      checkpointerName: 'rewound',
      createCheckpointer: () =>
        manyThreads(() => saverOf(createMemoryCheckpoints())) as unknown as BaseCheckpointSaver,
    }),
  );
  assert.ok(results.length > 700, `only ${results.length} checks ran`);
  for (const { title, error } of results) if (error !== undefined) assert.fail(`${title}: ${String(error)}`);
});

test('given versions, when compared as text or by locale, then a later one is always greater', () => {
  const saver = saverOf(createMemoryCheckpoints());
  let version: string | undefined;
  for (let i = 0; i < 1_100; i++) {
    const next = saver.getNextVersion(version);
    if (version !== undefined)
      assert.ok(next > version && next.localeCompare(version) > 0, `${next} ${version}`);
    version = next;
  }
  assert.notEqual(saver.getNextVersion(version), saver.getNextVersion(version));
});

test('P3 given two forks of one checkpoint, when both change a channel, then each keeps its own value', async () => {
  const store = createMemoryCheckpoints();
  const saver = saverOf(store);
  const put = async (parent: SaverConfig, id: string, text: string) => {
    const base = await saver.getTuple(parent);
    const before = base?.checkpoint.channel_versions['text'];
    const channel_versions = { text: saver.getNextVersion(before) };
    const checkpoint = { v: 4, id, ts: '', channel_values: { text }, channel_versions, versions_seen: {} };
    return saver.put(parent, checkpoint, { source: 'loop', step: 0, parents: {} }, channel_versions);
  };
  const root = await put({ configurable: { thread_id: 't', checkpoint_ns: '' } }, 'c1', 'root');
  const [one, two] = [await put(root, 'c2', 'one'), await put(root, 'c3', 'two')];
  const texts = await Promise.all([root, one, two].map((config) => saver.get(config)));
  assert.deepEqual(
    texts.map((each) => each?.channel_values['text']),
    ['root', 'one', 'two'],
  );
});

test('X2 given a store that refuses, when the runtime saves, then nothing rejects and the failure is told', async () => {
  const store = createMemoryCheckpoints();
  const failures: unknown[] = [];
  const saver = saverOf(store, (error) => failures.push(error));
  store.beforeSave = () => Promise.reject(new Error('stale'));
  store.beforeWrites = () => Promise.reject(new Error('stale too'));
  const checkpoint = { v: 4, id: 'c', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} };
  const config = await saver.put({ configurable: {} }, checkpoint, {}, {});
  await saver.putWrites(config, [['x', 1]], 'task');
  assert.deepEqual(failures.map(String), ['Error: stale', 'Error: stale too']);
});

test('a very long error text of a node is stored as short as clients see it', async () => {
  const boom = (): never => {
    throw Object.assign(new Error('m'.repeat(100_000)), { name: 'n'.repeat(100_000) });
  };
  const graph = new StateGraph(Annotation.Root({ x: Annotation<number> }))
    .addNode('boom', boom)
    .addEdge('__start__', 'boom')
    .compile();
  const store = createMemoryCheckpoints();
  const bench = openBench(graph, store);
  await bench.run({ input: { x: 1 } });
  const [noted, ...others] = (await store.load(''))!.writes.filter(({ channel }) => channel === '__error__');
  assert.deepEqual(others, []);
  const { message, name } = JSON.parse(noted!.data) as { message: string; name: string };
  assert.equal(message, `${'m'.repeat(16_384)}… (100000 characters)`);
  assert.equal(name, `${'n'.repeat(256)}… (100000 characters)`);
});

test('a new process reads the whole value of a delta channel', async () => {
  const append = (all: string[], added: string[][]): string[] => all.concat(...added);
  const State = Annotation.Root({ log: () => new DeltaChannel(append as never) as never });
  const graph = new StateGraph(State)
    .addNode('a', () => ({ log: ['a'] }) as never)
    .addNode('b', () => ({ log: [interrupt('?')] }) as never)
    .addEdge('__start__', 'a')
    .addEdge('a', 'b')
    .compile();
  const bench = openBench(graph);
  await bench.run({ input: { log: ['in'] } });
  await bench.restart().run({ command: { resume: 'b' } });
  assert.deepEqual(((await bench.restart().state()).values as JsonObject)['log'], ['in', 'a', 'b']);
});

test("LangGraph continues from a plain function's checkpoint with its values as channels", async () => {
  const store = createMemoryCheckpoints();
  await openBench(() => ({ log: ['plain'], kept: 1 }), store).run({ input: { log: ['in'] } });
  const Log = Annotation.Root({
    log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    kept: Annotation<number>,
  });
  const graph = new StateGraph(Log)
    .addNode('a', () => ({ log: ['graph'] }))
    .addEdge('__start__', 'a')
    .compile();
  const bench = openBench(graph, store);
  await bench.run({ input: { log: ['more'] } });
  assert.deepEqual(store.values(), { log: ['plain', 'more', 'graph'], kept: 1 });
  const again = openBench(({ log }: { log: string[] }) => ({ count: log.length }), store);
  await again.run({ input: {} });
  assert.deepEqual(store.values(), { log: ['plain', 'more', 'graph'], kept: 1, count: 3 });
});

for (const ts of ['', 'yesterday', 7, null])
  test(`a checkpoint that graph code dated ${JSON.stringify(ts)} is read with its time of storage`, async () => {
    const saver = saverOf(createMemoryCheckpoints());
    const config = { configurable: { thread_id: 't', checkpoint_ns: '' } };
    const checkpoint = { v: 4, id: 'c', ts, channel_values: {}, channel_versions: {}, versions_seen: {} };
    await saver.put(config, checkpoint as never, { source: 'loop', step: 0, parents: {} } as never, {});
    const found = await saver.getTuple(config);
    assert.match(String(found!.checkpoint.ts), /^\d{4}-\d\d-\d\dT/);
  });

test('given old checkpoints with sends among the writes, when read, then the sends are a channel', async () => {
  const saver = saverOf(createMemoryCheckpoints());
  const old = (id: string) => ({
    v: 1,
    id,
    ts: '',
    channel_values: {},
    channel_versions: {},
    versions_seen: {},
  });
  const parent = await saver.put({ configurable: {} }, old('c1'), {}, {});
  await saver.putWrites(parent, [['__pregel_tasks', 'send']], 'task');
  const child = await saver.put(parent, old('c2'), {}, {});
  const tuple: CheckpointTuple | undefined = await saver.getTuple(child);
  assert.deepEqual(tuple?.checkpoint.channel_values, { __pregel_tasks: ['send'] });
});

test('later writes of a task to fixed channels replace their own kind alone', async () => {
  const saver = saverOf(createMemoryCheckpoints());
  const checkpoint = { v: 4, id: 'c', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} };
  const config = await saver.put({ configurable: {} }, checkpoint, {}, {});
  await saver.putWrites(config, [['x', 1]], 'task');
  await saver.putWrites(config, [['__resume__', 'old']], 'task');
  await saver.putWrites(config, [['__resume__', 'new']], 'task');
  await saver.putWrites(config, [['__interrupt__', 'ask']], 'task');
  const tuple = await saver.getTuple(config);
  assert.deepEqual(
    new Set(tuple?.pendingWrites.map(([, channel, value]) => `${channel} ${String(value)}`)),
    new Set(['x 1', '__resume__ new', '__interrupt__ ask']),
  );
});

test('clients and the runtime read the bare value of a full copy of a delta channel', async () => {
  const append = (all: string[], added: string[][]): string[] => all.concat(...added);
  const State = Annotation.Root({
    log: () => new DeltaChannel(append as never, { snapshotFrequency: 1 }) as never,
  });
  const graph = new StateGraph(State)
    .addNode('a', () => ({ log: ['a'] }) as never)
    .addEdge('__start__', 'a')
    .compile();
  const bench = openBench(graph);
  await bench.run({ input: { log: ['in'] } });
  await bench.restart().run({ input: { log: ['more'] } });
  assert.deepEqual(bench.checkpoints.values(), { log: ['in', 'a', 'more', 'a'] });
  assert.deepEqual((await bench.restart().state()).values, { log: ['in', 'a', 'more', 'a'] });
});

test.run();
