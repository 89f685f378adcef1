import * as assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { ALL, plain, valuesOf, type Config } from './function-harness.ts';
import { gate, human } from './harness.ts';

const test = suite('function frames and ends');

test('given every mode, when the function runs, then frames look like those of LangGraph, in order', async () => {
  const bench = plain(async function* (_, { writer }: Config) {
    await writer({ token: 'he' });
    yield { messages: { role: 'ai', content: 'hey', id: 'a' } };
  });
  const runId = '01990000-0000-7000-8000-000000000001';
  const { frames } = await bench.run({
    runId,
    input: { messages: [human('hi', 'm1')] },
    streamModes: ALL,
    config: { configurable: {}, metadata: { mine: 1 }, tags: ['t'] },
  });
  const hi = { type: 'human', content: 'hi', id: 'm1' };
  const hey = { type: 'ai', content: 'hey', id: 'a' };
  const shown = frames.map(({ event, data }) => (event === 'events' ? (data as JsonObject)['event'] : event));
  assert.deepEqual(shown, [
    'on_chain_start',
    'values',
    'custom',
    'on_custom_event',
    'messages',
    'updates',
    'values',
    'on_chain_end',
  ]);
  assert.deepEqual(frames[1]?.data, { messages: [hi] });
  assert.deepEqual(frames[2]?.data, { token: 'he' });
  assert.deepEqual(frames[5]?.data, { agent: { messages: [hey] } });
  assert.deepEqual(frames[6]?.data, { messages: [hi, hey] });
  const [message, metadata] = frames[4]?.data as [Json, JsonObject];
  assert.deepEqual(message, hey);
  assert.deepEqual(
    [
      metadata['langgraph_node'],
      metadata['langgraph_step'],
      metadata['run_id'],
      metadata['mine'],
      metadata['tags'],
    ],
    ['agent', 0, runId, 1, ['t']],
  );
  const end = frames[7]?.data as JsonObject;
  assert.deepEqual(Object.keys(end).sort(), [
    'data',
    'event',
    'metadata',
    'name',
    'parent_ids',
    'run_id',
    'tags',
  ]);
  assert.deepEqual(end['data'], { output: { messages: [hi, hey] } });
});

test('given command.goto, when the run starts, then it ends with an error that says why', async () => {
  const { end } = await plain(() => ({})).run({ command: { goto: 'node' } });
  assert.match((end as { message: string }).message, /plain function: it has no nodes/);
});

test('more keys than a state may have end a function with an error and leave the state unchanged', async () => {
  const keys = (n: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]));
  let returned = keys(10_000);
  const bench = plain(() => returned);
  assert.equal((await bench.run({ input: {} })).end.kind, 'success');
  assert.deepEqual(await valuesOf(bench), returned);
  // What is there may change still.
  returned = { k7: 70 };
  assert.equal((await bench.run({ input: {} })).end.kind, 'success');
  returned = { k7: 71, another: 1 };
  const { end } = await bench.run({ input: {} });
  assert.match((end as { message: string }).message, /10001 keys at its top level, 10000 at most/);
  assert.equal((await valuesOf(bench))['k7'], 70);
});

test('an aborted function that throws is stopped, not failed', async () => {
  const running = gate();
  const bench = plain(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('AbortError')));
        running.open();
      }),
  );
  const stop = new AbortController();
  const run = bench.run({ input: {} }, { signal: stop.signal });
  await running.opened;
  stop.abort('timeout');
  assert.deepEqual((await run).end, { kind: 'stopped' });
  assert.equal((await bench.state()).tasks[0]?.error, null);
});

test('given a function that throws, when the run ends, then end and state tell the error', async () => {
  class CustomError extends Error {}
  const bench = plain(async function* () {
    yield { n: 1 };
    throw new CustomError('no luck');
  });
  const { end, origin } = await bench.run({ input: {} });
  assert.deepEqual(end, { kind: 'error', error: 'CustomError', message: 'no luck' });
  assert.deepEqual([origin?.node, origin?.step], ['agent', 1]);
  assert.match(origin?.stack ?? '', /^Error: no luck\n +at .*function-ends\.test\.ts:\d+:\d+/);
  const state = await bench.state();
  assert.equal(state.tasks[0]?.error, 'no luck');
  assert.deepEqual([state.next, state.values], [['agent'], { n: 1 }]);
  for (const [thrown, message] of [
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{ code: 1 }, '{"code":1}'],
  ] as const) {
    const failing = await plain(() => Promise.reject(thrown as unknown as Error)).run({ input: {} });
    assert.deepEqual(failing.end, { kind: 'error', error: 'Error', message });
  }
});

test('an iterator whose steps are no objects fails the run instead of looping', async () => {
  for (const step of [7, 'done', true, Symbol('s')]) {
    const iterator = { next: () => step, [Symbol.asyncIterator]: () => iterator };
    const { end } = await plain((() => iterator) as never).run({ input: {} });
    assert.deepEqual(end, {
      kind: 'error',
      error: 'TypeError',
      message: `The graph's iterator gave ${typeof step} where an object with value and done belongs`,
    });
  }
});

test('an unstorable result fails the run, names the key and saves nothing', async () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  for (const [update, message] of [
    [{ ok: 1, tool: { run: () => 1 } }, /^tool\.run is a function/],
    [{ loop }, /^loop\.self contains itself/],
    [{ messages: [{ type: 'ai', content: '', f: () => 1 }] }, /^messages\[0\]\.f is a function/],
    [{ messages: [7] }, /^messages\[0\] is no message/],
    ['text', /^An update must be an object, not string/],
    [[1], /^An update must be an object, not a list/],
  ] as const) {
    const bench = plain(() => update);
    const { end } = await bench.run({ input: { a: 1 } });
    assert.match((end as { message: string }).message, message);
    assert.deepEqual(await valuesOf(bench), { a: 1 });
  }
  const { end } = await plain(() => ({})).run({ input: 'text' });
  assert.match((end as { message: string }).message, /^The input must be an object/);
});

test('given a slow reader, when the function writes without end, then it waits for the reader', async () => {
  const hold = gate();
  let written = 0;
  const bench = plain(async (_, { writer }) => {
    for (let i = 0; i < 1_000; i++) {
      await writer(i);
      written += 1;
    }
  });
  const run = bench.run({ input: {}, streamModes: ['custom'] }, { emit: () => hold.opened });
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(written < 200, `${written} chunks were taken from a reader that took none`);
  hold.open();
  const { frames } = await run;
  assert.deepEqual(
    frames.map((frame) => frame.data),
    Array.from({ length: 1_000 }, (_, i) => i),
  );
});

test.run();
