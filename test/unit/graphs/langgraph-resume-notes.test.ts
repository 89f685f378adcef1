/** Questions and their answers, above all where a run is repeated after a crash or another line of the library asked. */
import * as assert from 'node:assert/strict';
import { interrupt, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { openBench } from './harness.ts';
import { START, Log, ask } from './langgraph-harness.ts';

const test = suite('langgraph resume notes');

test('X5 a run repeated after the next interrupt was saved does not resume that interrupt', async () => {
  for (const byId of [false, true]) {
    const bench = openBench(ask(['a?', 'b?']));
    await bench.run({ input: START });
    const id = (await bench.state()).interrupts[0]?.id ?? '';
    const runId = '01990000-0000-7000-8000-000000000001';
    const order = { runId, command: { resume: byId ? { [id]: 'A' } : 'A' } };
    await bench.run(order);
    const { end } = await bench.restart().run({ ...order, attempt: 2 });
    assert.deepEqual(end.kind === 'success' && end.next, ['ask']);
    assert.equal((await bench.state()).interrupts[0]?.value, 'b?');
    await bench.restart().run({ command: { resume: 'B' } });
    assert.deepEqual((await bench.state()).values, { log: [], answer: ['A', 'B'] });
  }
});

test('X5 a run repeated before its resume value was used passes the value', async () => {
  const bench = openBench(ask(['a?', 'b?']));
  await bench.run({ input: START });
  bench.checkpoints.beforeWrites = (writes) => {
    if (writes.some((write) => write.channel === '__interrupt__')) throw new Error('the process dies here');
  };
  const order = { runId: '01990000-0000-7000-8000-000000000001', command: { resume: 'A' } };
  assert.equal((await bench.run(order)).end.kind, 'error');
  bench.checkpoints.beforeWrites = () => undefined;
  await bench.restart().run({ ...order, attempt: 2 });
  assert.equal((await bench.state()).interrupts[0]?.value, 'b?');
  bench.checkpoints.beforeSave = () => Promise.reject(new Error('the process dies here'));
  bench.checkpoints.beforeWrites = (writes) => {
    if (writes.some((write) => write.channel === 'answer')) throw new Error('the process dies here');
  };
  const next = { runId: '01990000-0000-7000-8000-000000000002', command: { resume: 'B' } };
  assert.equal((await bench.run(next)).end.kind, 'error');
  bench.checkpoints.beforeSave = bench.checkpoints.beforeWrites = () => undefined;
  await bench.restart().run({ ...next, attempt: 2 });
  assert.deepEqual((await bench.state()).values, { log: [], answer: ['A', 'B'] });
});

test('a run without resume value does not use an earlier one for a pending interrupt', async () => {
  const bench = openBench(ask(['a?', 'b?']));
  await bench.run({ input: START });
  await bench.run({ command: { resume: 'A' } });
  const { end } = await bench.restart().run({ input: null });
  assert.deepEqual(end.kind === 'success' && end.next, ['ask']);
  assert.equal((await bench.state()).interrupts[0]?.value, 'b?');
});

test('X5 a run repeated after the process died gives a used resume value again, also false, 0 or empty', async () => {
  for (const answer of [false, 0, '', 'yes']) {
    let dies = true;
    const slow = new StateGraph(Log)
      .addNode('ask', () => {
        const given = [interrupt('a?') as Json];
        if (dies) throw new Error('the process dies here');
        return { answer: [...given, interrupt('b?') as Json] };
      })
      .addEdge('__start__', 'ask')
      .compile();
    const bench = openBench(slow);
    await bench.run({ input: START });
    // What is saved once the node has failed is not: the process was gone.
    const stored = bench.checkpoints.beforeWrites;
    bench.checkpoints.beforeWrites = (writes) => {
      if (writes.some(({ channel }) => channel === '__error__')) throw new Error('the process is gone');
    };
    const order = { runId: '01990000-0000-7000-8000-000000000001', command: { resume: answer } };
    assert.equal((await bench.run(order)).end.kind, 'error');
    bench.checkpoints.beforeWrites = stored;
    dies = false;
    const again = await bench.restart().run({ ...order, attempt: 2 });
    assert.deepEqual(again.end.kind === 'success' && again.end.next, ['ask']);
    assert.equal((await bench.state()).interrupts[0]?.value, 'b?', `after ${JSON.stringify(answer)}`);
    await bench.restart().run({ ...order, attempt: 3 });
    assert.equal((await bench.state()).interrupts[0]?.value, 'b?', 'the next question has no answer yet');
    await bench.restart().run({ command: { resume: 'B' } });
    assert.deepEqual((await bench.state()).values, { log: [], answer: [answer, 'B'] });
  }
});

test('X5 an interrupt of a subgraph saved before the process died still waits after the run is repeated', async () => {
  for (const answer of [false, 'A']) {
    const inner = new StateGraph(Log)
      .addNode('inner', () => ({ answer: ['a?', 'b?'].map((question) => interrupt(question) as Json) }))
      .addEdge('__start__', 'inner')
      .compile();
    const outer = new StateGraph(Log).addNode('sub', inner).addEdge('__start__', 'sub').compile();
    const bench = openBench(outer);
    await bench.run({ input: START });
    const order = { runId: '01990000-0000-7000-8000-000000000001', command: { resume: answer } };
    await bench.run(order);
    assert.equal((await bench.state()).interrupts[0]?.value, 'b?');
    const { end } = await bench.restart().run({ ...order, attempt: 2 });
    assert.deepEqual(end.kind === 'success' && end.next, ['sub'], `after ${JSON.stringify(answer)}`);
    assert.equal((await bench.state()).interrupts[0]?.value, 'b?');
    await bench.restart().run({ command: { resume: 'B' } });
    assert.deepEqual((await bench.state()).values, { log: [], answer: [answer, 'B'] });
  }
});

test('X5 a repeated resume at a past checkpoint leaves the next interrupt pending', async () => {
  for (const answer of [false, 'A']) {
    const bench = openBench(ask(['a?', 'b?']));
    await bench.run({ input: START });
    const checkpointId = (await bench.state()).checkpoint!.id!;
    await bench.run({ input: START });
    const order = {
      runId: '01990000-0000-7000-8000-000000000001',
      command: { resume: answer },
      config: { configurable: { checkpoint_id: checkpointId }, metadata: {} },
    };
    for (const attempt of [1, 2]) {
      const { end } = await bench.restart().run({ ...order, attempt });
      assert.deepEqual(end.kind === 'success' && end.next, ['ask'], `${JSON.stringify(answer)} ${attempt}`);
    }
  }
});

test('X5 a question stored under langgraph 1.4 is answered, and a repeated run does not answer the next', async () => {
  const bench = openBench(ask(['a?', 'b?', 'c?']));
  await bench.run({ input: START });
  const first = (await bench.state()).interrupts[0]!.id!;
  await bench.run({ command: { resume: 'A' } });
  // Given the second question as that line writes it: one bare object, under the id of the task's first question.
  const stored = bench.checkpoints.writes.find(({ channel }) => channel === '__interrupt__')!;
  const question = { ...stored, data: JSON.stringify({ id: first, value: 'b?' }) };
  await bench.checkpoints.saveWrites('', stored.checkpointId, [question]);
  assert.deepEqual((await bench.state()).interrupts, [{ id: first, value: 'b?' }]);
  const order = {
    runId: '01990000-0000-7000-8000-000000000001',
    command: { resume: { [first]: 'B' } },
  };
  for (const attempt of [1, 2]) {
    await bench.restart().run({ ...order, attempt });
    assert.equal((await bench.state()).interrupts[0]?.value, 'c?', `attempt ${attempt}`);
  }
  await bench.restart().run({ command: { resume: 'C' } });
  assert.deepEqual((await bench.state()).values, { log: [], answer: ['A', 'B', 'C'] });
});

test('an answer that the question refuses fails the run, and the question can be answered again', async () => {
  const graph = new StateGraph(Log)
    .addNode('ask', () => ({ answer: interrupt('how many?', { responseSchema: z.number() }) }))
    .addEdge('__start__', 'ask')
    .compile();
  const bench = openBench(graph);
  await bench.run({ input: START });
  const [question] = (await bench.state()).interrupts;
  assert.equal((question?.['response_schema'] as JsonObject)['type'], 'number');
  for (const resume of ['many', { [question!.id!]: 'many' }]) {
    assert.equal((await bench.restart().run({ command: { resume } })).end.kind, 'error');
    assert.deepEqual((await bench.state()).interrupts, [question]);
  }
  const { end } = await bench.restart().run({ command: { resume: 3 } });
  assert.deepEqual(end, { kind: 'success', next: [], interrupts: {} });
  assert.deepEqual((await bench.state()).values, { log: [], answer: 3 });
});

test('a question that langgraph 0.3 wrote is shown as that line writes it', async () => {
  const bench = openBench(ask(['a?']));
  await bench.run({ input: START });
  const stored = bench.checkpoints.writes.find(({ channel }) => channel === '__interrupt__')!;
  const question = { value: 'a?', when: 'during', resumable: true, ns: ['ask:x'], interrupt_id: 'b' };
  await bench.checkpoints.saveWrites('', stored.checkpointId, [
    { ...stored, data: JSON.stringify(question) },
  ]);
  const { interrupts, tasks } = await bench.state();
  assert.deepEqual([interrupts, tasks[0]?.interrupts], [[question], [question]]);
});

test('X5 a repeated run gives those of its answers that no task used, also within one subgraph', async () => {
  let dies = true;
  const asks = (name: string) => async () => {
    const answer = interrupt(name) as string;
    if (name === 'right' && dies) await new Promise(() => undefined);
    return { log: [`${name} ${answer} ${String(interrupt(`${name} again`))}`] };
  };
  const inner = new StateGraph(Log)
    .addNode('left', asks('left'))
    .addNode('right', asks('right'))
    .addEdge('__start__', 'left')
    .addEdge('__start__', 'right')
    .compile();
  const bench = openBench(new StateGraph(Log).addNode('sub', inner).addEdge('__start__', 'sub').compile());
  await bench.run({ input: START });
  const answers = (given: string) => async () =>
    Object.fromEntries(
      (await bench.state()).interrupts.map(({ id, value }) => [id!, `${String(value)} ${given}`]),
    );
  // When the process dies after `left` has used its answer and before `right` has.
  const dying = new AbortController();
  const saveWrites = bench.checkpoints.saveWrites.bind(bench.checkpoints);
  bench.checkpoints.saveWrites = async (ns, id, writes) => {
    await saveWrites(ns, id, writes);
    if (ns !== '' && writes.some(({ channel }) => channel === '__interrupt__')) dying.abort('shutdown');
  };
  const order = {
    runId: '01990000-0000-7000-8000-000000000001',
    command: { resume: await answers('one')() },
  };
  assert.equal((await bench.run(order, { signal: dying.signal })).end.kind, 'stopped');
  bench.checkpoints.saveWrites = saveWrites;
  dies = false;
  await bench.restart().run({ ...order, attempt: 2 });
  const asked = (await bench.state()).interrupts.map(({ value }) => value);
  assert.deepEqual(asked.sort(), ['left again', 'right again']);
  await bench.restart().run({ command: { resume: await answers('two')() } });
  assert.deepEqual((await bench.state()).values, {
    log: ['left left one left again two', 'right right one right again two'],
  });
});

test.run();
