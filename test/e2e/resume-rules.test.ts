/** X7 What is kept of a run's calls, where, for how long, and what is told of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { holding, withScene, type Scene } from './resume-scene.ts';

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
