import * as assert from 'node:assert/strict';
import type { Json } from '../../../src/kernel/json.ts';
import { heapInUse } from '../../support/garbage.ts';
import { suite } from '../../support/suite.ts';
import { plain, success, survey, valuesOf, type Config, type State } from './function-harness.ts';
import { contents, human } from './harness.ts';

const test = suite('function calls');

test('given answers by interrupt id, when one of them is meant, then it is taken and others are refused', async () => {
  const bench = plain((_, { interrupt }) => ({ answer: interrupt('?') }));
  await bench.run({ input: {} });
  const id = (await bench.state()).interrupts[0]?.id ?? '';
  const wrong = await bench.run({ command: { resume: { ['0'.repeat(32)]: 1 } } });
  assert.match((wrong.end as { message: string }).message, /the answers are for others/);
  await bench.run({ command: { resume: { [id]: { a: 1 } } } });
  assert.deepEqual(await valuesOf(bench), { answer: { a: 1 } });
});

test('given an answer to nothing, when the run starts, then it succeeds and changes nothing', async () => {
  let calls = 0;
  const bench = plain(() => ({ calls: ++calls }));
  await bench.run({ input: {} });
  const { end, frames } = await bench.run({ command: { resume: 'late' } });
  assert.deepEqual(end, success);
  assert.deepEqual(frames, [{ event: 'values', data: { calls: 1 } }]);
  assert.equal(calls, 1);
});

test('new input while an interrupt is pending begins a new call and drops the interrupt', async () => {
  const bench = plain((state, { interrupt }) =>
    state['ask'] === true ? { got: interrupt('?') } : { done: 1 },
  );
  await bench.run({ input: { ask: true } });
  const { end } = await bench.run({ input: { ask: false } });
  assert.deepEqual(end, success);
  assert.deepEqual((await bench.state()).interrupts, []);
  assert.deepEqual(await valuesOf(bench), { ask: false, done: 1 });
});

test('every repetition of the call sees a state update sent with a resume', async () => {
  const seen: Json[] = [];
  const bench = plain((state, { interrupt }) => {
    seen.push((state['extra'] as Json) ?? null);
    return { answers: [interrupt('a?'), interrupt('b?')] };
  });
  await bench.run({ input: { extra: 'none' } });
  await bench.restart().run({ command: { resume: 1, update: { extra: 'patched' } } });
  await bench.restart().run({ command: { resume: 2 } });
  assert.deepEqual(seen, ['none', 'patched', 'patched']);
  assert.deepEqual(await valuesOf(bench), { extra: 'patched', answers: [1, 2] });
});

test('X5 given a crash after k updates, when the next attempt resumes, then no update is applied twice', async () => {
  let called = 0;
  const bench = plain(async function* (_, { writer }: Config) {
    called += 1;
    for (let i = 1; i <= 4; i++) {
      await writer(i);
      yield { messages: { role: 'ai', content: `m${i}` } };
    }
  });
  bench.checkpoints.beforeSave = ({ step }) => {
    if (step === 2) throw new Error('the process dies here');
  };
  const order = { runId: '01990000-0000-7000-8000-000000000001', input: { messages: [human('hi')] } };
  assert.equal((await bench.run(order)).end.kind, 'error');
  bench.checkpoints.beforeSave = () => undefined;
  const second = await bench
    .restart()
    .run({ ...order, attempt: 2, resume: true, streamModes: ['custom', 'updates'] });
  assert.deepEqual(second.end, success);
  assert.deepEqual(contents(await valuesOf(bench)), ['hi', 'm1', 'm2', 'm3', 'm4']);
  assert.deepEqual(second.of('custom'), [3, 4]);
  assert.equal(second.of('updates').length, 2);
  assert.equal(called, 2);
  const third = await bench.restart().run({ ...order, attempt: 3, resume: true });
  assert.deepEqual(third.end, success);
  assert.deepEqual(contents(await valuesOf(bench)), ['hi', 'm1', 'm2', 'm3', 'm4']);
});

test('X5 given a crash in a run that answers, when resumed at any point, then the end is the same', async () => {
  for (let crashAt = 0; crashAt < 12; crashAt++) {
    const { bench } = survey();
    let operations = 0;
    const count = (): void => {
      if (operations++ === crashAt) throw new Error('the process dies here');
    };
    bench.checkpoints.beforeSave = count;
    bench.checkpoints.beforeWrites = count;
    const orders = [{ input: { topic: 't' } }, { command: { resume: 'ann' } }, { command: { resume: 44 } }];
    for (const [index, order] of orders.entries()) {
      const runId = `01990000-0000-7000-8000-00000000000${index}`;
      let { end } = await bench.restart().run({ ...order, runId });
      for (let attempt = 2; end.kind === 'error' && end.message.includes('dies'); attempt++) {
        const resume = bench.checkpoints.saved.some((each) => each.metadata['run_id'] === runId);
        ({ end } = await bench.restart().run({ ...order, runId, attempt, resume }));
      }
      assert.equal(end.kind, 'success');
    }
    assert.deepEqual(
      await valuesOf(bench),
      { topic: 't', log: ['t'], name: 'ann', age: 44 },
      `crash at ${crashAt}`,
    );
    assert.deepEqual((await bench.state()).next, []);
  }
});

test('X5 a process that died after the second interrupt does not use the first resume value again', async () => {
  const bench = plain((_, { interrupt }) => ({ answers: [interrupt('a?'), interrupt('b?')] }));
  await bench.run({ input: { x: 1 } });
  const order = { runId: '01990000-0000-7000-8000-000000000001', command: { resume: 'A' } };
  await bench.restart().run(order);
  const again = await bench.restart().run({ ...order, attempt: 2 });
  assert.equal(again.end.kind === 'success' && again.end.next[0], 'agent');
  assert.deepEqual((await bench.state()).interrupts[0]?.value, 'b?');
  await bench.run({ command: { resume: 'B' } });
  assert.deepEqual(await valuesOf(bench), { x: 1, answers: ['A', 'B'] });
});

test('X5 given a crash in a run from an older checkpoint, when resumed, then it goes on from its own head', async () => {
  const bench = plain(async function* (state: State) {
    yield { n: Number(state['n']) + 1 };
    yield { done: true };
  });
  await bench.run({ input: { n: 0 } });
  await bench.run({ input: { n: 10 } });
  const first = bench.checkpoints.saved[0]?.checkpointId ?? '';
  bench.checkpoints.beforeSave = ({ step }) => {
    if (step === 2) throw new Error('the process dies here');
  };
  const runId = '01990000-0000-7000-8000-000000000001';
  const order = { runId, input: null, config: { configurable: { checkpoint_id: first }, metadata: {} } };
  assert.equal((await bench.run(order)).end.kind, 'error');
  bench.checkpoints.beforeSave = () => undefined;
  const saved = bench.checkpoints.saved.length;
  await bench.restart().run({ ...order, attempt: 2, resume: true });
  assert.deepEqual(await valuesOf(bench), { n: 1, done: true });
  assert.equal(bench.checkpoints.saved.length, saved + 1);
});

test('chunks written without a pause take at most three times their text', async () => {
  const chunk = { token: 'x'.repeat(34) };
  const text = 200_000 * JSON.stringify(chunk).length;
  let held = 0;
  const bench = plain((_, { writer }: Config) => {
    const before = heapInUse();
    for (let i = 0; i < 200_000; i++) void writer(chunk);
    held = heapInUse() - before;
  });
  const { of } = await bench.run({ streamModes: ['custom'] });
  assert.equal(of('custom').length, 200_000);
  assert.ok(held < 3 * text, `${held} bytes for a text of ${text}`);
});

test.run();
