import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { RunDiff } from '../../src/past/tell/run-diff.ts';
import { runHere } from '../support/command-line.ts';
import { logOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { MISSING } from './scene.ts';

const test = suite('differences of runs');

const CONFIG = { config: join(PROJECT, 'platform.story.json') };

/** Runs a graph on a thread of its own, and returns the run's id. */
async function runOf(s: TestServer, graph: string, input: object, more: object = {}): Promise<string> {
  const { thread_id: thread } = await s.client.threads.create();
  await s.client.runs.wait(thread, graph, { input, ...more } as never).catch(() => undefined);
  return (await s.client.runs.list(thread))[0]!.run_id;
}

/** The comparison of the endpoint, which is that of the command. */
async function diffOf(s: TestServer, a: string, b: string): Promise<RunDiff> {
  const { status, json, text } = await s.request('GET', `/runs/diff?a=${a}&b=${b}`);
  assert.equal(status, 200, text);
  const printed = await runHere(['diff', a, b, '--data', logOf(s), '--json']);
  assert.deepEqual([printed.code, JSON.parse(printed.out)], [json.equal ? 0 : 1, json]);
  return json as RunDiff;
}

const nodesOf = (side: 'a' | 'b', { steps }: RunDiff): (string | null)[] =>
  steps.map((step) => step[side]?.nodes.join() ?? null);

test('runs that did the same are equal, with durations and tokens side by side', () =>
  withServer(CONFIG, async (s) => {
    const story = () => runOf(s, 'story', { topic: 'a', messages: 'find it' });
    const [a, b] = [await story(), await story()];
    const diff = await diffOf(s, a, b);
    assert.deepEqual([diff.equal, diff.first, diff.state], [true, null, []]);
    const nodes = [
      '',
      '__start__',
      'plan',
      'look,look,look',
      '',
      '__start__',
      'check',
      'review',
      'left,right',
    ];
    assert.deepEqual(nodesOf('a', diff), nodes);
    assert.deepEqual(nodesOf('b', diff), nodes);
    for (const run of [diff.a, diff.b]) {
      assert.deepEqual(run.tokens, { input: 30, output: 4, total: 34 });
      assert.ok(run.took_ms !== null && run.took_ms >= 0);
    }
  }));

test('the first divergence of two runs is named, and their other steps are aligned', () =>
  withServer(CONFIG, async (s) => {
    const story = { topic: 'a', messages: 'find it' };
    const whole = await runOf(s, 'story', story);
    const other = await diffOf(s, whole, await runOf(s, 'story', { ...story, topic: 'b' }));
    assert.deepEqual(other.first, {
      ...{ what: 'input', index: null },
      difference: { channel: 'input', path: 'input.topic', a: 'a', b: 'b' },
    });
    const paused = await runOf(s, 'story', story, { interruptBefore: ['review'] });
    const shorter = await diffOf(s, whole, paused);
    assert.deepEqual(shorter.first, { what: 'step', index: 4, difference: null });
    assert.deepEqual(nodesOf('b', shorter).slice(0, 4), nodesOf('a', shorter).slice(0, 4));
    assert.deepEqual(nodesOf('b', shorter).slice(4), [null, null, null, null, null]);

    const { out, code } = await runHere(['diff', whole, paused, '--data', logOf(s)]);
    assert.equal(code, 1);
    assert.match(out, /^= {8}look ×3 /m);
    assert.match(out, /^- {8}review\|check /m);
    assert.match(out, /^first divergence: review\|input is a step of a alone$/m);
  }));

test('runs of exported files are compared with each other and with those of a log', () =>
  withServer(CONFIG, async (s) => {
    const [data, file] = [logOf(s), join(s.dir, 'story.rewound')];
    const run = await runOf(s, 'story', { topic: 'a', messages: 'find it' });
    const other = await runOf(s, 'story', { topic: 'b', messages: 'find it' });
    const { thread_id: thread } = (await s.request('GET', '/threads?limit=2')).json.at(-1);
    await runHere(['export', '--data', data, '--thread', thread, '--output', file]);
    const codeOf = async (...args: string[]) => (await runHere(['diff', ...args, '--data', data])).code;
    assert.equal(await codeOf(file, run), 0);
    assert.equal(await codeOf(`${file}:${run}`, file), 0);
    assert.equal(await codeOf(other, file), 1);
    await assert.rejects(codeOf(`${file}:${other}`, run), /no run or thread begins with/);
    await assert.rejects(codeOf(CONFIG.config, run), { exitCode: 3 });
  }));

test('diff refuses runs that are missing or ambiguous, and logs that are not there', () =>
  withServer(CONFIG, async (s) => {
    const run = await runOf(s, 'steps', { messages: 'a' });
    const other = await runOf(s, 'steps', { messages: 'b' });
    for (const query of [`a=${run}&b=${MISSING}`, `a=${MISSING}&b=${run}`])
      assert.equal((await s.request('GET', `/runs/diff?${query}`)).status, 404);
    for (const query of [`a=${run}`, `a=${run}&b=x`])
      assert.equal((await s.request('GET', `/runs/diff?${query}`)).status, 422);
    const diff = (...args: string[]) => runHere(['diff', ...args, '--data', logOf(s)]);
    await assert.rejects(diff(run, MISSING), /no run or thread begins with 0000/);
    await assert.rejects(diff(run, 'x'), /"x" is no file that exists, and no id of a run or thread/);
    await assert.rejects(diff(run.slice(0, 4), other), /several runs or threads begin with/);
    await assert.rejects(runHere(['diff', run, run, '--data', s.dir]), { exitCode: 3 });
  }));

test.run();
