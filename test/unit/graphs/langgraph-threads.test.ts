/** Graphs that a node calls in a thread of its own choice: what the library's own saver does is what is expected. */
import * as assert from 'node:assert/strict';
import { Annotation, Command, interrupt, MemorySaver, StateGraph, Send } from '@langchain/langgraph';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { openBench } from './harness.ts';
import { Log, START } from './langgraph-harness.ts';
import type { Json } from '../../../src/kernel/json.ts';

const test = suite('langgraph threads of graph code');

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  user: Annotation<string>,
  said: Annotation<unknown>,
});
const inThread = (thread: string, ns?: string) => ({
  configurable: { thread_id: thread, ...(ns !== undefined && { checkpoint_ns: ns }) },
});
const keeper = (options: { checkpointer?: true } = {}) =>
  new StateGraph(State)
    .addNode('k', () => ({ log: ['of the child'] }))
    .addEdge('__start__', 'k')
    .compile(options);
type Child = ReturnType<typeof keeper>;

/** A graph that calls another one in one node. */
const calling = (call: (state: typeof State.State) => Promise<Partial<typeof State.State>>) =>
  new StateGraph(State).addNode('x', call).addEdge('__start__', 'x').compile();
const remembers = (child: Child, ns?: string) =>
  calling(async ({ user }) => {
    const { log } = await child.invoke({ log: [user] }, inThread(`memory|%7C of user:${user}`, ns));
    return { said: log };
  });

for (const [way, graph] of [
  ['that keeps its state', remembers(keeper({ checkpointer: true }))],
  ['at the root of its thread', remembers(keeper(), '')],
] as const)
  test(`given a node that calls a graph ${way}, when other users come, then each finds what it left there`, async () => {
    const bench = openBench(graph);
    const local = Object.assign(Object.create(graph) as typeof graph, { checkpointer: new MemorySaver() });
    for (const user of ['ann', 'bob', 'ann']) {
      const { end } = await bench.run({ input: { user } });
      const { said, log } = await local.invoke({ user }, inThread('t'));
      assert.equal(end.kind, 'success');
      const { values } = await bench.state();
      assert.deepEqual(values, { log, said, user } as JsonObject);
    }
    let steps = 0;
    for await (const _ of local.getStateHistory(inThread('t'))) steps += 1;
    assert.equal((await bench.checkpoints.list({ ns: '' })).length, steps);
    // Namespaces with a colon are those of tasks, which go with their step.
    for (const { ns } of await bench.checkpoints.list({})) assert.doesNotMatch(ns, /:/);
  });

test('a node that called a graph in another thread resumes at its own interrupt', async () => {
  const child = keeper();
  const graph = calling(async () => {
    const { log } = await child.invoke({ log: ['in'] }, inThread('another', ''));
    return { said: [log, interrupt('may I?')] };
  });
  const bench = openBench(graph);
  const { end } = await bench.run({ input: { log: ['first'] } });
  assert.deepEqual(end.kind === 'success' && end.next, ['x']);
  const { values: asking, tasks } = await bench.state();
  assert.deepEqual(asking, { log: ['first'] });
  assert.equal(tasks[0]?.interrupts.length, 1);
  await bench.restart().run({ command: { resume: 'yes' } });
  const { values } = await bench.state();
  const local = Object.assign(Object.create(graph) as typeof graph, { checkpointer: new MemorySaver() });
  await local.invoke({ log: ['first'] }, inThread('t'));
  assert.deepEqual(values, await local.invoke(new Command({ resume: 'yes' }), inThread('t')));
});

test('X5 a repeated run keeps its own resume value though its node resumed a graph in another thread', async () => {
  const child = new StateGraph(State)
    .addNode('k', () => ({ log: [String(interrupt('of the child?'))] }))
    .addEdge('__start__', 'k')
    .compile({ checkpointer: true });
  let pass = 0;
  const graph = calling(async () => {
    pass += 1;
    if (pass === 1) await child.invoke({ log: [] }, inThread('other'));
    if (pass === 2) {
      await child.invoke(new Command({ resume: 'by code' }), inThread('other'));
      throw new Error('the process dies here');
    }
    return { said: interrupt('mine?') };
  });
  const bench = openBench(graph);
  await bench.run({ input: { log: [] } });
  const run = { runId: '01990000-0000-7000-8000-000000000002', command: { resume: 'of the user' } };
  assert.equal((await bench.restart().run(run)).end.kind, 'error');
  await bench.restart().run({ ...run, attempt: 2 });
  const { values } = await bench.state();
  assert.deepEqual(values, { log: [], said: 'of the user' });
});

test("a node that reads another thread's state does not get its own", async () => {
  const read: unknown[] = [];
  const looking: Child = new StateGraph(State)
    .addNode('k', async (_, config) => {
      const place = { ...config.configurable, checkpoint_ns: '', checkpoint_id: undefined };
      for (const thread_id of ['other', config.configurable?.['thread_id']]) {
        const { values } = await looking.getState({ configurable: { ...place, thread_id } });
        read.push((values as JsonObject)['user']);
      }
      return { log: [] };
    })
    .addEdge('__start__', 'k')
    .compile();
  await openBench(looking).run({ input: { user: 'ann' } });
  assert.deepEqual(read, [undefined, 'ann']);
});

test('given parallel sends, when one of them asks, then the finished ones are kept', async () => {
  const ran: string[] = [];
  const graph = new StateGraph(Log)
    .addNode('split', () => ({}))
    .addNode('work', ({ answer }: { answer: Json }) => {
      ran.push(String(answer));
      return { log: [answer === 'ask' ? (interrupt('which?') as string) : String(answer)] };
    })
    .addEdge('__start__', 'split')
    .addConditionalEdges('split', () => ['x', 'ask', 'y'].map((answer) => new Send('work', { answer })))
    .compile();
  const bench = openBench(graph);
  const { end } = await bench.run({ input: START });
  assert.deepEqual(end.kind === 'success' && end.next, ['work']);
  await bench.restart().run({ command: { resume: 'z' } });
  assert.deepEqual(ran, ['x', 'ask', 'y', 'ask']);
  assert.deepEqual(((await bench.state()).values as JsonObject)['log'], ['x', 'z', 'y']);
});

test.run();
