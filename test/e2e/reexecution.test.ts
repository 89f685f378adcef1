/** Runs of a real project with a real model server, executed again by the real program. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { MODES, withRecorded, type Scene } from './recorded-scene.ts';

const test = suite('re-execution of recorded runs');

const withScene = (use: (scene: Scene) => Promise<void>, env?: Record<string, string>): Promise<void> =>
  withRecorded('recorded', use, env);

/** For tests that look at threads of their own only. */
const scene = shared(test, withScene);

const TRIP = { input: { topic: 'trips' } };

test('all kinds of graphs, retries and an answered interrupt execute again alike, observed by dev (R1)', () =>
  withScene(
    async ({ run, replay, requests, parts }) => {
      // given
      const config = { configurable: { modelApiKey: 'key-of-the-run' } };
      const { thread, run: first } = await run('agent', { ...TRIP, config });
      await run('agent', { command: { resume: 'yes' } }, thread);
      await run('plain', { input: { topic: 'maps' } });
      await run('client', { input: { topic: 'threads' } });
      const { thread: twice } = await run('sequence', { input: { seen: [] } });
      await run('sequence', { input: { seen: [] } }, twice);
      await run('parallel', { input: { seen: [] } });
      await run('functional', { input: { n: 4 } });
      const { thread: chat } = await run('chat', { input: { messages: ['hi'] } });
      await run('chat', { input: { messages: [{ role: 'user', content: 'again' }] } }, chat);
      await run('generated', { input: { n: 30 } });
      const before = requests();
      // when
      const all = await replay(['--all']);
      // then
      assert.equal(all.code, 0, all.output);
      assert.match(all.output, /11 equal, 0 different, 0 not tried/);
      assert.equal(requests(), before, 'nothing reached the model');
      const recorded = await parts(first);
      assert.equal(recorded.filter(({ kind }) => kind === 'exchange').length, 9);
      // A4 No secret of the user, of the run, of the model's account or of its answers is in the recording.
      const text = JSON.stringify(recorded);
      for (const secret of [
        ...['tok-of-ada-4711', 'key-of-the-run', 'key-of-the-model', 'key-in-the-url', 'cookie-of-the-model'],
      ])
        assert.equal(text.includes(secret), false, secret);
      const start = recorded.find((part) => part.kind === 'start');
      assert.match(start?.env['MODEL_URL'] ?? '', /^http:/);
      assert.equal(start?.env['PATH'], null);
      assert.ok(start?.versions['@langchain/langgraph']);
    },
    { REWOUND_DEV: '1' },
  ));

/** What the report says of each planted change of the graph `changeable`. */
const PLANTED: Readonly<Record<string, RegExp>> = {
  '': /equal: the run does again/,
  query: /different: node calls, step 2, makes another request, query.place \(/,
  'missing request':
    /different: request, step 2, node calls\n +recorded +"GET .*look\?last"\n +found +nothing/,
  put: /different: store, step 3, node keeps, a\/kept\/n\n +recorded +.*"n":1.*\n +found +.*"n":2/,
  end: /different: .*node keeps/,
};

test('planted changes are named by their places; unused requests may be allowed', () =>
  withScene(async ({ run, replay }) => {
    // given
    const runs: { thread: string; run: string; change: string }[] = [];
    for (const change of Object.keys(PLANTED))
      runs.push({ ...(await run('changeable', { input: { seen: [] } })), change });
    const plantedOn = Object.fromEntries(runs.map(({ thread, change }) => [thread, change]));
    const env = { PLANTED_ON: JSON.stringify(plantedOn) };
    // when
    const { code, output } = await replay(['--all'], env);
    // then
    assert.equal(code, 1, output);
    assert.match(output, new RegExp(`1 equal, ${runs.length - 1} different, 0 not tried`));
    const reports = output.split(/^(?=Run )/m);
    for (const { run: id, change } of runs)
      assert.match(reports.find((report) => report.startsWith(`Run ${id} `)) ?? '', PLANTED[change]!, change);
    const { thread } = runs.find(({ change }) => change === 'missing request')!;
    const allowed = await replay(['--thread', thread, '--allow-unused'], env);
    assert.equal(allowed.code, 0, allowed.output);
  }));

test('a planted change is named by step, node and channel; a changed prompt is shown as a difference', async () => {
  const { run, replay } = scene();
  // given
  const { thread } = await run('agent', TRIP);
  const { run: second } = await run('agent', { command: { resume: 'yes' } }, thread);
  const args = ['--thread', thread];
  // when
  const verdict = await replay([...args, '--run', second], { PLANTED: 'verdict' });
  const prompt = await replay(args, { PLANTED: 'prompt' });
  const matched = await replay([...args, '--match', 'url'], { PLANTED: 'prompt' });
  // then
  assert.equal(verdict.code, 1, verdict.output);
  assert.match(
    verdict.output,
    /different: write, .*node decide, channel verdict\n +recorded +"yes after \d+"\n +found +"changed"/,
  );
  assert.equal(prompt.code, 1, prompt.output);
  assert.match(prompt.output, /node plan, step 1, makes another request, body.prompt /);
  assert.match(prompt.output, /- +"prompt": "Plan trips",\n +\+ +"prompt": "Plan trips well",/);
  assert.equal(matched.code, 0, matched.output);
});

test('a run is stopped, stubbed, edited and started from a later checkpoint', () =>
  withScene(async ({ run, replay, programs }) => {
    // given
    const { thread, run: id } = await run('agent', TRIP);
    const args = ['--thread', thread, '--run', id];
    const file = join(programs.dir, 'answer.json');
    await writeFile(file, '{"text":"what if"}');
    // when
    const [paused, stubbed, answered, edited, live] = await Promise.all([
      replay([...args, '--break', 'look']),
      replay([...args, '--stub', 'look'], { PLANTED: 'verdict' }),
      replay([...args, '--answer', `1=${file}`]),
      replay([...args, '--set', 'topic=maps', '--match', 'url']),
      replay([...args, '--set', 'topic=maps', '--live']),
    ]);
    // then
    assert.equal(paused.code, 0, paused.output);
    assert.match(
      paused.output,
      /stopped before node look: equal to the log so far\n[^]*notes: \["answer 1 [\d.]+ [^"]+"\]$/m,
    );
    assert.equal(stubbed.code, 0, stubbed.output);
    assert.match(answered.output, /found +"what if /);
    assert.match(edited.output, /recorded +"trips"\n +found +"maps"/);
    assert.match(edited.output, /"answer 1 /);
    assert.doesNotMatch(live.output.split('Differs from the log')[0]!, /"answer 1 /);
    assert.match(live.output, /notes\[0\]: "answer 1 .*" → "answer \d\d /);
    assert.match(live.output, /"answer \d\d /);
  }));

test('a client has a run executed again beside the server, and gets the report (R1)', async () => {
  const { run, server } = scene();
  // given
  const { thread, run: id } = await run('agent', TRIP);
  const path = `/threads/${thread}/runs/${id}/replay`;
  // when
  const [first, second] = await Promise.all([
    server.open('POST', path, {}).then((reply) => reply.text()),
    server.open('POST', path, { stub: ['look'], allow_unused: true }).then((reply) => reply.text()),
  ]);
  // then
  for (const text of [first, second])
    assert.match(
      text,
      /event: started[^]*event: report\r\ndata: \{[^]*"verdict":"equal","closedBy":\["patches","permissions"/,
    );
  const wrong = await server.ask('POST', path, { match: 'all' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.json.detail, /match: expected "exact" or "url"/);
});

test('the report of a re-execution is a message, not what graph code prints', () =>
  withScene(
    async ({ run, server }) => {
      // given
      const { thread, run: id } = await run('plain', { input: { topic: 'maps' } });
      const path = `/threads/${thread}/runs/${id}/replay`;
      // when
      const [text, unknown] = await Promise.all([
        server.open('POST', path, {}).then((reply) => reply.text()),
        server.open('POST', path, { set: { topic: 1 }, from: thread }).then((reply) => reply.text()),
      ]);
      // then
      assert.match(text, /event: report\r\ndata: \{[^]*"verdict":"equal"/);
      assert.match(unknown, /"verdict":"untried","reasons":\["--from: the run has no checkpoint/);
    },
    { PLANTED: 'report' },
  ));

test('a run killed in the middle executes again as one, with the answers of its last attempt', () =>
  withScene(async ({ again, replay, server }) => {
    // given
    const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
    const asked = { assistant_id: 'agent', ...TRIP, stream_mode: MODES, stream_subgraphs: true };
    const stream = await server.open('POST', `/threads/${thread}/runs/stream`, asked);
    const reader = stream.body!.getReader();
    const decoder = new TextDecoder();
    for (let text = ''; !text.includes('answer 1');) text += decoder.decode((await reader.read()).value);
    await server.end('SIGKILL');
    // when
    const restarted = await again();
    const [{ run_id: run }] = (await restarted.ask('GET', `/threads/${thread}/runs`)).json;
    await restarted.ask('GET', `/threads/${thread}/runs/${run}/join`);
    const result = await replay(['--thread', thread]);
    // then
    assert.equal(result.code, 0, result.output);
  }));

test('what cannot be recorded makes a re-execution refuse with its name, unless its node is a stub', async () => {
  const { run, replay } = scene();
  // given
  const { thread } = await run('raw', TRIP);
  // when
  const refused = await replay(['--thread', thread]);
  const stubbed = await replay(['--thread', thread, '--stub', 'socket']);
  // then
  assert.equal(refused.code, 3, refused.output);
  assert.match(refused.output, /not tried: a socket of node socket, step 1 is not recorded; --stub/);
  assert.equal(stubbed.code, 0, stubbed.output);
});

test('only a deployment, assistant or run that says so is recorded; deletion erases recordings (L3)', () =>
  withScene(
    async ({ run, parts, server }) => {
      // given
      const silent = await run('plain', { input: { topic: 'a' } });
      const loud = await run('plain', { input: { topic: 'b' }, config: { recording: true } });
      const { json } = await server.ask('POST', '/assistants', {
        graph_id: 'plain',
        config: { recording: true },
      });
      const assisted = await run(json.assistant_id, { input: { topic: 'c' } });
      assert.equal((await parts(silent.run)).length, 0);
      assert.ok((await parts(assisted.run)).length > 0);
      assert.ok((await parts(loud.run)).length > 0);
      // when
      await server.ask('DELETE', `/threads/${loud.thread}`);
      await server.ask('DELETE', `/threads/${assisted.thread}/runs/${assisted.run}`);
      // then
      assert.equal((await parts(loud.run)).length, 0);
      assert.equal((await parts(assisted.run)).length, 0);
    },
    { PLATFORM_RECORDING: 'false' },
  ));

test.run();
