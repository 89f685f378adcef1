import * as assert from 'node:assert/strict';
import { AIMessage } from '@langchain/core/messages';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { suite } from '../../support/suite.ts';
import { plain, sources, success, valuesOf, type Config, type State } from './function-harness.ts';
import { contents, human } from './harness.ts';

const test = suite('function updates');

test('given input messages by role, when the function runs, then it sees wire messages with ids', async () => {
  let seen: State | undefined;
  const bench = plain((state) => {
    seen = structuredClone(state);
    return { messages: new AIMessage({ content: 'hello', id: 'a1' }), topic: 'greeting' };
  });
  const input = {
    messages: [
      { role: 'user', content: 'hi', id: 'm1' },
      { role: 'assistant', content: 'yes' },
      { role: 'system', content: 's', name: 'n' },
      { type: 'tool', content: 't', tool_call_id: 'c' },
      'bare text',
    ],
    topic: 'none',
  };
  const { end, of } = await bench.run({ input });
  assert.deepEqual(end, success);
  assert.deepEqual(seen?.messages[0], { type: 'human', content: 'hi', id: 'm1' });
  assert.deepEqual(
    seen?.messages.map((message) => message['type']),
    ['human', 'ai', 'system', 'tool', 'human'],
  );
  assert.ok(seen?.messages.every((message) => typeof message['id'] === 'string' && message['id'] !== ''));
  assert.equal(seen?.messages[2]?.['name'], 'n');
  const values = await valuesOf(bench);
  assert.deepEqual(of('values').at(-1), values);
  assert.deepEqual(bench.checkpoints.values(), values);
  assert.equal(values['topic'], 'greeting');
  const answer = (values['messages'] as JsonObject[]).at(-1);
  assert.deepEqual([answer?.['type'], answer?.['content'], answer?.['id']], ['ai', 'hello', 'a1']);
});

test('given updates, when applied, then messages append or replace in place and other keys are replaced', async () => {
  const bench = plain(async function* () {
    yield { messages: [{ type: 'ai', content: 'draft', id: 'a' }], list: [1] };
    yield undefined;
    yield null;
    yield { messages: { type: 'ai', content: 'final', id: 'a' }, list: [2], same: undefined };
    yield { messages: { type: 'remove', id: 'gone' } };
    return { messages: { type: 'remove', id: 'm1' }, last: true };
  });
  await bench.run({ input: { messages: [human('hi', 'm1'), human('and', 'gone')], same: 'kept' } });
  assert.deepEqual(await valuesOf(bench), {
    messages: [{ type: 'ai', content: 'final', id: 'a' }],
    same: 'kept',
    list: [2],
    last: true,
  });
  assert.deepEqual(sources(bench), ['input -1', 'loop 0', 'loop 1', 'loop 2', 'loop 3']);
});

test('P3 given an update of one key, when saved, then only that key is stored and checkpoints form a chain', async () => {
  const bench = plain(async function* () {
    yield { count: 1 };
    yield { count: 2 };
  });
  await bench.run({ input: { big: 'x'.repeat(1_000), count: 0 } });
  await bench.run({ input: { count: 5 } });
  const saved = bench.checkpoints.saved;
  assert.deepEqual(
    saved.map((each) => each.blobs.map((blob) => blob.channel)),
    [['big', 'count'], ['count'], ['count'], ['count'], ['count'], ['count']],
  );
  assert.deepEqual(
    saved.map((each) => each.parentId),
    [null, ...saved.slice(0, -1).map((each) => each.checkpointId)],
  );
  assert.ok(
    saved.every((each, index) => index === 0 || each.checkpointId > (saved[index - 1]?.checkpointId ?? '')),
  );
  assert.deepEqual(sources(bench).slice(3), ['input 2', 'loop 3', 'loop 4']);
  const versions = saved.flatMap((each) => each.blobs.map((blob) => `${blob.channel} ${blob.version}`));
  assert.equal(new Set(versions).size, versions.length);
});

test('given a function that changes what it was given, when it goes on, then the state is untouched', async () => {
  const shared = { n: 1 };
  const bench = plain(async function* (state: State) {
    state['kept'] = 'changed';
    state.messages.length = 0;
    yield { shared };
    shared.n = 2;
    yield { other: 1 };
  });
  await bench.run({ input: { messages: [human('hi', 'm1')], kept: 'as it was' } });
  const values = await valuesOf(bench);
  assert.equal(values['kept'], 'as it was');
  assert.deepEqual(values['shared'], { n: 1 });
  assert.deepEqual(contents(values), ['hi']);
});

test('given a function that swallows the interrupt, when it goes on, then the run waits all the same', async () => {
  const bench = plain(async function* (_, { interrupt }: Config) {
    try {
      interrupt('?');
    } catch {
      yield { swallowed: true };
    }
  });
  const { end } = await bench.run({ input: { a: 1 } });
  assert.equal(end.kind === 'success' && end.next[0], 'agent');
  assert.deepEqual(await valuesOf(bench), { a: 1 });
});

test('given command.update alone, when the run starts, then it is merged like an input', async () => {
  const bench = plain((state) => ({ seen: state['a'] }));
  await bench.run({ command: { update: [['a', 1]] } });
  assert.deepEqual(await valuesOf(bench), { a: 1, seen: 1 });
  await bench.run({ command: { update: { a: 2 }, goto: [] } });
  assert.deepEqual(await valuesOf(bench), { a: 2, seen: 2 });
});

test('given values beyond JSON, when stored, then the function gets them back and clients see plain JSON', async () => {
  let seen: unknown;
  const bench = plain((state) => {
    seen = state['when'];
    return { when: new Date(0), tags: new Set(['a']), $: 'mine' };
  });
  await bench.run({ input: {} });
  await bench.restart().run({ input: {} });
  assert.ok(seen instanceof Date);
  assert.deepEqual(await valuesOf(bench), { when: '1970-01-01T00:00:00.000Z', tags: ['a'], $: 'mine' });
  assert.deepEqual(bench.checkpoints.values(), await valuesOf(bench));
});

test.run();
