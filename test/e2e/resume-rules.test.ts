/** X7 What is kept of a run's calls, where, for how long, and what is told of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { holding, withScene, type RunRef, type Scene } from './resume-scene.ts';

const test = suite('calls that a run keeps');
const scene = shared(test, withScene);

/** The log has as many answers of the run. */
const kept = (given: Scene, run: Parameters<Scene['kept']>[0], count: number): Promise<unknown> =>
  until(`${count} answers are kept`, async () => (await given.kept(run)).length === count);

/** A run whose last call has no answer: the others are kept. Whatever was asked before is forgotten. */
async function untilLast(given: Scene, graph: string, count: number, body: object = {}) {
  given.model.asked.length = 0;
  const run = await holding(given.model, 'last', () => given.begin(graph, body));
  await kept(given, run, count);
  return run;
}

test('the story of a run tells which calls were served, and which was asked again', async () => {
  const given = scene();
  // given
  const run = await untilLast(given, 'plain', 3);
  // when
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  // then
  const { output } = await given.programs.run({
    args: ['replay', '--data', given.data, '--thread', run.thread],
  });
  assert.match(output, /calls 1 to 3 of plain served from the log\n/);
  assert.match(output, /call 4 of plain asked again \(no answer when the worker died\)\n/);
  assert.deepEqual(given.model.asked.slice(4), ['last']);
});

test('a run that does not want it keeps nothing, and asks again', async () => {
  const given = scene();
  given.model.asked.length = 0;
  const run = await holding(given.model, 'last', () =>
    given.begin('plain', { config: { resume_calls: false } }),
  );
  assert.deepEqual(await given.kept(run), []);
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  assert.equal(given.model.asked.filter((name) => name === 'second').length, 2);
});

test('a run whose assistant does not want it keeps nothing', async () => {
  const given = scene();
  const { json } = await given
    .server()
    .ask('POST', '/assistants', { graph_id: 'plain', config: { resume_calls: false } });
  const run = await holding(given.model, 'last', () => given.begin(json.assistant_id));
  assert.deepEqual(await given.kept(run), []);
  given.model.release();
  await given.server().ask('POST', `/threads/${run.thread}/runs/${run.run}/cancel?wait=true`);
});

test('a run with durability "exit", which saves no checkpoint, is served too', async () => {
  const given = scene();
  const run = await untilLast(given, 'functional', 3, { durability: 'exit' });
  await given.killServer();
  given.model.release();
  await given.end(run);
  assert.deepEqual(given.model.asked.slice(4), ['last']);
});

test('a recorded run of two attempts executes again alike: what was served counts as answered (R3)', async () => {
  const given = scene();
  // given
  const run = await untilLast(given, 'functional', 3, { config: { recording: true } });
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  assert.deepEqual(given.model.asked.splice(0).slice(4), ['last']);
  // when
  const { args } = given.launch;
  const again = await given.programs.run({
    args: ['replay', '--execute', ...args, '--data', given.data, '--thread', run.thread],
    env: given.launch.env,
  });
  // then
  assert.match(again.output, /equal/);
  assert.equal(again.code, 0, again.output);
  assert.deepEqual(given.model.asked, []);
});

test('an answer that its worker dies of is asked for again', async () => {
  const given = scene();
  const { model } = given;
  model.asked.length = 0;
  const deadly = (): number => model.asked.filter((name) => name === 'deadly').length;
  model.answer = (name, reply) => {
    if (name !== 'deadly' || deadly() > 1) return false;
    reply.end('die');
    return true;
  };
  const { answers } = await given.end(await given.begin('mortal'));
  assert.deepEqual(answers, ['answer to deadly']);
  assert.equal(deadly(), 2);
});

test('a task has one call key in all attempts, and its requests have idempotency keys that follow from it', async () => {
  const given = scene();
  const { model } = given;
  model.keys.length = 0;
  // given
  const run = await untilLast(given, 'keyed', 1, { config: { resume_calls: 'keys' } });
  const [key] = model.asked;
  assert.match(key!, /^[0-9a-f-]{36}$/);
  await given.killWorkers();
  model.release();
  // when
  const { answers } = await given.end(run);
  // then
  assert.deepEqual(answers, [`answer to ${key}`, 'answer to last', key]);
  assert.deepEqual(model.asked, [key, 'last', 'last']);
  assert.deepEqual(model.keys, [`${key}-1`, `${key}-2`, `${key}-2`]);
});

const noted = async ({ server }: Scene, { thread, run }: RunRef): Promise<any[]> =>
  (await server().ask('GET', `/threads/${thread}/runs/${run}/calls`)).json;

test('prints of a node are told with their place, those before the death of its worker too', async () => {
  const given = scene();
  // given
  const run = await holding(given.model, 'last', () => given.begin('talks'));
  // when
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  // then
  const calls = await noted(given, run);
  assert.deepEqual(
    calls.map(({ sequence, stream, text }) => [sequence, stream, text.slice(0, 20)]),
    [
      [1, 'stdout', 'first { line: 1 }'],
      [2, 'stderr', 'half a line'],
      [3, 'stdout', 'long long long long '],
      [4, 'stdout', 'first { line: 1 }'],
      [5, 'stderr', 'half a line'],
      [6, 'stdout', 'long long long long '],
      [7, 'stderr', 'answered\nanswer to l'],
    ],
  );
  const long = calls[2];
  assert.deepEqual([long.text.length, long.cut], [4_096, 905]);
  assert.deepEqual([long.attempt, long.kind, long.node, long.step], [1, 'print', 'talk', 1]);
  assert.ok(calls[3].attempt > 1);
  assert.equal(long.checkpoint_ns, `talk:${long.task_id}`);
});

test('calls of models that a plain function makes are told by their answers, served ones too (X7)', async () => {
  const given = scene();
  given.model.answer = (name, reply) => {
    if (name !== 'chat') return false;
    reply.writeHead(200, { 'content-type': 'application/json' });
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    reply.end(JSON.stringify({ object: 'chat.completion', model: 'gpt', usage }));
    return true;
  };
  const undisturbed = await given.begin('talkative');
  await given.end(undisturbed);
  const [before, between, call, ...more] = await noted(given, undisturbed);
  assert.deepEqual([before.text, before.step, before.node], ['before', 0, 'talkative']);
  assert.deepEqual([between.text, between.step], ['between', 1]);
  const { kind, name, model, usage, step, error, served, duration_ms: ms } = call;
  assert.deepEqual(
    { kind, name, model, usage, step, error, served },
    {
      ...{ kind: 'model', name: `${new URL(given.model.url).host}/chat`, model: 'gpt' },
      ...{ usage: { input_tokens: 3, output_tokens: 4 }, step: 1, error: null, served: false },
    },
  );
  assert.ok(ms >= 0);
  assert.deepEqual(more, []);
  // when
  const run = await holding(given.model, 'last', () => given.begin('talkative'));
  await kept(given, run, 1);
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  // then
  const last = (await noted(given, run)).at(-1);
  assert.deepEqual([last.name, last.model, last.usage, last.served], [name, model, usage, true]);
});

test('calls of models and tools that an agent makes are told in order, of all attempts', async () => {
  const given = scene();
  // given: the second call of the model has no answer
  const ask = { input: { messages: [{ role: 'user', content: 'hello', id: 'm' }] } };
  const run = await holding(given.model, 'model 4', () => given.begin('tools', ask));
  // when
  await given.killWorkers();
  given.model.release();
  await given.end(run);
  // then
  const calls = await noted(given, run);
  assert.deepEqual(calls.map(({ kind, name, step, node }) => [step, kind, name, node]).sort(), [
    [1, 'model', 'Model', 'model_request'],
    [2, 'tool', 'read', 'tools'],
    [2, 'tool', 'search', 'tools'],
    [3, 'model', 'Model', 'model_request'],
  ]);
});

test('answers are in no backup, and in no file of the log when the run has ended', () =>
  withScene(async (given) => {
    // given: an answer that does not change when it is compressed
    const answer = randomBytes(2_000);
    given.model.answer = (name, reply) => {
      if (name !== 'forgotten') return false;
      reply.end(answer);
      return true;
    };
    const run = await untilLast(given, 'forgetful', 1);
    const [call] = await given.kept(run);
    assert.deepEqual(Buffer.from(call!.body), answer);
    const found = async (): Promise<string[]> => {
      const names = (await readdir(given.data)).filter((name) => name.startsWith('log.db'));
      const files = await Promise.all(names.map((name) => readFile(join(given.data, name))));
      return names.filter((_, at) => files[at]!.includes(answer.subarray(500, 600)));
    };
    assert.notDeepEqual(await found(), [], 'the text can be found');
    // when
    const backup = join(given.programs.dir, 'backup');
    const backedUp = await given.programs.run({ args: ['backup', '--data', given.data, backup] });
    assert.equal(backedUp.code, 0, backedUp.output);
    given.model.release();
    await given.killServer();
    await given.end(run);
    assert.deepEqual(await given.kept(run), []);
    // then
    assert.equal((await readFile(backup)).includes(answer.subarray(500, 600)), false);
    await until('nothing is left', async () => (await found()).length === 0);
  }));

test.run();
