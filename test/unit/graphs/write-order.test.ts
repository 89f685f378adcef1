/** The order in which writes of parallel tasks come back: that in which the runtime applied them. */
import * as assert from 'node:assert/strict';
import { Annotation, DeltaChannel, Send, StateGraph } from '@langchain/langgraph';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { createDecoder } from '../../../src/graphs/codec.ts';
import type { Saver } from '../../../src/graphs/langgraph/saver-contract.ts';
import { openSaver } from '../../../src/graphs/langgraph/saver.ts';
import type { CheckpointStore } from '../../../src/graphs/port.ts';
import { logCheckpoints } from '../../support/log-checkpoints.ts';
import { createMemoryCheckpoints } from '../../support/memory-checkpoints.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';
import { ids, openBench } from './harness.ts';

const test = suite('langgraph order of writes');

/** So many that their random ids are in the order of their paths in one of 40,320 runs. */
const SENDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

const fanOut = () => {
  const append = (all: string[], added: string[][]): string[] => all.concat(...added);
  const State = Annotation.Root({
    log: () => new DeltaChannel(append as never) as never,
    name: Annotation<string>,
  });
  return new StateGraph(State)
    .addNode('work', ({ name }: { name: string }) => ({ log: [name] }) as never)
    .addNode('after', () => ({ log: ['after'] }) as never)
    .addConditionalEdges('__start__', () => SENDS.map((name) => new Send('work', { name })))
    .addEdge('work', 'after')
    .compile();
};

for (const durability of ['sync', 'async', 'exit'] as const)
  test(`parallel writes to a delta channel come back as they were streamed (durability ${durability})`, async () => {
    const bench = openBench(fanOut());
    const { of } = await bench.run({ input: { log: ['in'] }, durability });
    const expected = ['in', ...SENDS, 'after'];
    assert.deepEqual((of('values').at(-1) as { log: string[] }).log, expected);
    assert.deepEqual(((await bench.restart().state()).values as { log: string[] }).log, expected);
    // And a second run goes on from there.
    await bench.restart().run({ input: { log: ['more'] }, durability });
    const after = [...expected, 'more', ...SENDS, 'after'];
    assert.deepEqual(((await bench.restart().state()).values as { log: string[] }).log, after);
  });

const METADATA = { source: 'loop', step: 0, parents: {} } as const;
const checkpointOf = (id: string) => ({
  ...{ v: 4, id, ts: '' },
  ...{ channel_values: {}, channel_versions: {}, versions_seen: {} },
});

const rethrow = (error: unknown): never => {
  throw error;
};

const saverOf = (store: CheckpointStore, fail: (error: unknown) => void = rethrow): Saver =>
  openSaver({
    threadId: 't',
    store,
    decode: createDecoder(),
    ids,
    runId: 'run',
    metadata: {},
    valueChannels: [],
    fail,
  });

/** The same writes into both savers; what each lists of them. */
async function compare(store: CheckpointStore, seed: number): Promise<void> {
  const { pick, int } = createRandom(seed);
  const memory = new MemorySaver();
  const own = saverOf(store);
  const root = { configurable: { thread_id: 't', checkpoint_ns: '' } };
  const checkpoint = checkpointOf(ids.uuid());
  const [theirs, ours] = [
    await memory.put(root, checkpoint as never, METADATA as never),
    await own.put(root, checkpoint, METADATA, {}),
  ];
  for (let task = 0; task < 12; task++) {
    const path = pick([
      '',
      '~__pregel_pull, a',
      '~__pregel_push, 0000000001',
      '~~0000000003~x',
      '\u{10000}',
      '\uffff',
    ]);
    const taskId = pick([crypto.randomUUID(), `0000000${task}-made-up`, `\u{1f600}${task}`, `\ufffd${task}`]);
    const writes = Array.from({ length: int(1, 3) }, (_, index): [string, unknown] => [
      pick(['x', 'y', '__error__', '__interrupt__']),
      `${task}.${index}`,
    ]);
    await memory.putWrites(theirs, writes as never, taskId, path);
    await own.putWrites(ours, writes, taskId, path);
  }
  const listed = async (saver: Pick<Saver, 'getTuple' | 'list'>, config: object) => {
    const all: unknown[] = [(await saver.getTuple(config))?.pendingWrites];
    for await (const tuple of saver.list(root)) all.push(tuple.pendingWrites);
    return all;
  };
  const expected = await listed(memory as never, theirs);
  assert.deepEqual(await listed(own, ours), expected, `seed ${seed}`);
  assert.deepEqual(own.lastTuple()?.pendingWrites, expected[0], `in memory, seed ${seed}`);
}

test('random writes are listed in the order of the library, from memory and from the log', async () => {
  for (let seed = 0; seed < 20; seed++) await compare(createMemoryCheckpoints(), seed);
  await withLog(async ({ log }) => {
    for (let seed = 0; seed < 20; seed++) await compare(logCheckpoints(log, `thread-${seed}`), seed);
  });
});

test('X2 a refused write lets no later checkpoint be put', async () => {
  const store = createMemoryCheckpoints();
  store.beforeWrites = () => Promise.reject(new Error('refused'));
  const failures: unknown[] = [];
  const saver = saverOf(store, (error) => failures.push(error));
  const config = { configurable: { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c1' } };
  await saver.putWrites(config, [['log', 'x']], 'task');
  await saver.put(config, checkpointOf('c2'), METADATA, {});
  assert.deepEqual([failures.map(String), store.saved], [['Error: refused'], []]);
});

test.run();
