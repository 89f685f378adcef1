import * as assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { loadGraphs } from '../../../src/graphs/loader.ts';
import { importUserModule } from '../../../src/graphs/user-modules.ts';
import { suite } from '../../support/suite.ts';
import { contents, human, openLoaded, type Bench } from './harness.ts';

const test = suite('examples');

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../../src/examples/${name}`, import.meta.url));

const example = async (name: string): Promise<Bench> => {
  const { graphs, problems } = await loadGraphs([{ id: 'agent', file: fileOf(name), exportName: 'graph' }]);
  assert.deepEqual(problems, []);
  assert.ok(graphs[0]);
  return openLoaded(graphs[0]);
};

test('given stream-words, when it runs, then the tokens add up to the answer', async () => {
  const bench = await example('stream-words.ts');
  const { of } = await bench.run({
    input: { messages: [human('hello there')] },
    streamModes: ['custom', 'values'],
  });
  const tokens = of('custom').map((chunk) => String((chunk as JsonObject)['token']));
  assert.ok(tokens.length >= 4);
  assert.deepEqual(contents(of('values').at(-1) ?? null), ['hello there', tokens.join('')]);
});

test('given chat, when it runs twice, then it answers the last message and streams the answer', async () => {
  const bench = await example('chat.ts');
  await bench.run({ input: { messages: [human('one')] } });
  const { of } = await bench.run({
    input: { messages: [human('two')] },
    streamModes: ['messages-tuple', 'values'],
  });
  assert.deepEqual(contents(of('values').at(-1) ?? null), ['one', 'echo: one', 'two', 'echo: two']);
  const chunks = of('messages') as [JsonObject, JsonObject][];
  assert.equal(chunks.map(([chunk]) => String(chunk['content'])).join(''), 'echo: two');
});

for (const [answer, result] of [
  [true, 'done: pay'],
  [{ approved: true }, 'done: pay'],
  [false, 'refused: no reason given'],
  [{ approved: false, reason: 'too much' }, 'refused: too much'],
] as const)
  test(`given approval, when the answer is ${JSON.stringify(answer)}, then the graph acts on it`, async () => {
    const bench = await example('approval.ts');
    await bench.run({ input: { request: 'pay' } });
    const { interrupts } = await bench.state();
    assert.deepEqual(interrupts[0]?.value, { question: 'May I do this?', request: 'pay' });
    const { of } = await bench.run({ command: { resume: answer } });
    assert.equal((of('values').at(-1) as JsonObject)['result'], result);
  });

test('given the auth example, when imported, then it can be asked', async () => {
  const { auth } = await importUserModule(fileOf('auth.ts'));
  const { authenticate } = (
    auth as { '~handlerCache': { authenticate(request: Request): { identity: string } } }
  )['~handlerCache'];
  const ask = (token: string) => () =>
    authenticate(new Request('http://localhost', { headers: { authorization: `Bearer ${token}` } }));
  assert.equal(ask('alice-token')().identity, 'alice');
  assert.equal(ask('bob-token')().identity, 'bob');
  assert.throws(ask('other'), { status: 401 });
});

test.run();
