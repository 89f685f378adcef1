import * as assert from 'node:assert/strict';
import { Annotation, DeltaChannel, StateGraph } from '@langchain/langgraph';
import { createDecoder } from '../../../src/graphs/codec.ts';
import type { CheckpointTuple, Saver } from '../../../src/graphs/langgraph/saver-contract.ts';
import { openSaver } from '../../../src/graphs/langgraph/saver.ts';
import { createMemoryCheckpoints, type MemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { suite } from '../../support/suite.ts';
import { ids, openBench } from './harness.ts';

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
