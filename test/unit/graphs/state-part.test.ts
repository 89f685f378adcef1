/** Which checkpoints and channels the reading of a part of a state asks for. */
import * as assert from 'node:assert/strict';
import { Annotation, DeltaChannel, interrupt, StateGraph } from '@langchain/langgraph';
import { LastValue } from '@langchain/langgraph/channels';
import { Channel, Pregel } from '@langchain/langgraph/pregel';
import { createDecoder } from '../../../src/graphs/codec.ts';
import { openInProcessGraphs } from '../../../src/graphs/in-process.ts';
import { openSaver } from '../../../src/graphs/langgraph/saver.ts';
import type { CheckpointReader } from '../../../src/graphs/port.ts';
import type { ChannelChoice } from '../../../src/graphs/state-part.ts';
import { suite } from '../../support/suite.ts';
import { asLoaded, ids, openBench, toOrder, type Bench } from './harness.ts';
import { systemClock } from '../../../src/kernel/clock.ts';

const test = suite('graphs: parts of states');

/** A reader that gives what is chosen and notes what was asked. */
function openChoosing({ checkpoints }: Bench) {
  const asked: (readonly string[] | undefined)[] = [];
  const reader: CheckpointReader = {
    async load(ns, checkpointId, choice?: ChannelChoice) {
      asked.push(choice?.names);
      const loaded = await checkpoints.load(ns, checkpointId);
      if (loaded === undefined || choice === undefined) return loaded;
      const blobs = loaded.blobs.filter(
        ({ channel }) => !loaded.valueChannels.includes(channel) || choice.names.includes(channel),
      );
      return { ...loaded, blobs };
    },
    list: (query) => checkpoints.list(query),
  };
  return { reader, asked };
}

async function readPart(graph: unknown, bench: Bench, part: object) {
  const host = openInProcessGraphs({ graphs: [asLoaded(graph)], ids, clock: systemClock() });
  const { graphId, threadId, config } = toOrder(ids.uuid(), {});
  const { reader, asked } = openChoosing(bench);
  const order = { graphId, threadId, config, subgraphs: false };
  const { values, next, interrupts } = await host.state(
    { ...order, part: { keys: [], next: false, tasks: false, ...part } },
    reader,
  );
  return { values: values.parse(), next, questions: interrupts.map(({ value }) => value), asked };
}

test('an append-only channel that is not selected has its history left alone', async () => {
  // given: a thread whose list is spread over many checkpoints, as data from before checkpoints had whole lists is
  const graph = new StateGraph(
    Annotation.Root({
      log: () =>
        new DeltaChannel(((all: string[], added: string[][]) => all.concat(...added)) as never) as never,
      name: Annotation<string>,
    }),
  )
    .addNode('work', ({ name }: { name: string }) => ({ log: [name] }) as never)
    .addEdge('__start__', 'work')
    .compile();
  const bench = openBench(graph);
  const checkpointer = openSaver({
    ...{ threadId: 't', store: bench.checkpoints, decode: createDecoder(), ids, runId: 'r', metadata: {} },
    valueChannels: ['log', 'name'],
    fail: assert.ifError,
  });
  const spread = Object.assign(graph.withConfig({}), { checkpointer });
  for (const name of ['a', 'b', 'c']) await spread.invoke({ name }, { configurable: { thread_id: 't' } });
  // then
  const named = await readPart(graph, bench, { keys: ['name'] });
  assert.deepEqual([named.values, named.asked], [{ name: 'c' }, [['name']]]);
  const listed = await readPart(graph, bench, { keys: ['log'] });
  assert.deepEqual(listed.values, { log: ['a', 'b', 'c'] });
  assert.ok(listed.asked.length > 1);
});

test('channels that start nodes are read for the nodes still to run', async () => {
  // given: a graph without a schema, whose nodes subscribe to its values
  const graph = new Pregel({
    nodes: {
      ask: Channel.subscribeTo('given')
        .pipe(() => interrupt('sure?') as string)
        .pipe(Channel.writeTo(['said'])),
    },
    channels: { given: new LastValue<string>(), said: new LastValue<string>() },
    inputChannels: 'given',
    outputChannels: ['given', 'said'],
    streamChannels: ['given', 'said'],
  });
  const bench = openBench(graph);
  await bench.run({ input: 'go' });
  // then
  const { next, questions, asked } = await readPart(graph, bench, { next: true });
  assert.deepEqual([next, questions], [['ask'], ['sure?']]);
  assert.ok(!asked[0]!.includes('said'));
});

test.run();
