import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runHere } from '../support/command-line.ts';
import { logOf } from '../support/stored.ts';
import { leapingClock } from './scene.ts';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';

const test = suite('replay: the story of a thread');

const CONFIG = { config: join(PROJECT, 'platform.story.json') };

async function replay(s: TestServer, ...args: string[]): Promise<string[]> {
  const { code, out } = await runHere(['replay', '--data', logOf(s), ...args]);
  assert.equal(code, 0, out);
  return out.split('\n');
}

/** Lines without position and time, and durations as `N ms`. */
const told = (lines: readonly string[]): string[] =>
  lines
    .slice(1)
    .filter((line) => line !== '')
    .map((line) =>
      line
        .replace(/^ {10,}/, '')
        .replace(/^ +\d+  \d\d:\d\d:\d\d\.\d{3}  /, '')
        .replaceAll(/ *(?:< 1 ms|[\d.]+ m?s)\b/g, ' N ms')
        .replaceAll(/ {2,}next/g, ' next'),
    );

const start = ({ client }: TestServer, id: string, graph: string, payload: object) =>
  client.runs.wait(id, graph, payload as never).catch(() => undefined);

test('a timeline names nodes, next nodes, durations, tokens, questions, answers and failed tools (R2)', () =>
  withServer(CONFIG, async (server) => {
    const { thread_id: id } = await server.client.threads.create();
    await start(server, id, 'story', { input: { topic: 'a', messages: 'find it' } });
    await start(server, id, 'story', { command: { resume: 'yes' } });

    const lines = await replay(server, '--thread', id);

    assert.match(lines[0]!, new RegExp(`^Thread ${id}, 2 runs, \\d{4}-\\d\\d-\\d\\d \\(UTC\\)$`));
    assert.deepEqual(
      told(lines).map((line) => line.replace(/\([\da-f]{8}-[\da-f]{4}…\)/, '(ID)')),
      [
        'thread created',
        'run 1 of story (ID), input "find it"',
        '  run 1 started',
        '  input',
        '  start N ms next: plan',
        '  plan N ms next: look ×3',
        '  look ×3 N ms next: review',
        '  review|input',
        '  review|start N ms next: check',
        '  review|check N ms',
        '  review N ms next: left, right',
        '  left, right N ms next: publish',
        'run 1 paused before publish after N ms, 34 tokens (30 in, 4 out), asks "Shall I?"',
        'run 2 of story (ID), answers "yes"',
        '  run 2 started',
        '  publish N ms',
        'run 2 succeeded after N ms, 56 tokens (50 in, 6 out)',
        'tool search failed: Error: no network Please fix your mistakes.',
      ],
    );
    const whole = await replay(server, '--thread', id.slice(0, 18), '--ids');
    assert.match(whole.join('\n'), /run 1 of story \([\da-f]{8}-[\da-f-]{27}\), input/);
    const [json] = await replay(server, '--thread', id, '--json');
    const step = (JSON.parse(json!) as any[]).find((entry) => entry.step?.nodes.includes('left'));
    assert.deepEqual(step.step, { graph: '', source: 'loop', nodes: ['left', 'right'], next: ['publish'] });
  }));

test('a failed run is told with node, step, error and the lines of the project that led there', () =>
  withServer(CONFIG, async (server) => {
    const { thread_id: id } = await server.client.threads.create();
    await start(server, id, 'story', { input: { topic: 'broken' } });

    const lines = await replay(server, '--thread', id);

    const end = lines.findIndex((line) => line.includes('failed'));
    assert.match(
      lines[end]!,
      /run 1 failed after .* in node "review\|check", step 3: Error: the topic is broken$/,
    );
    // The code around the place follows.
    assert.match(lines.slice(end + 2).join('\n'), /^ +10 \|[^]*> 12 \| .*throw[^]*\n +14 \|.*$/);
    assert.match(lines[end + 1]!, /^ +at .*story\.ts:12:\d+\)$/);
    const list = await replay(server);
    assert.match(list[0]!, /^Thread +Graph +Status +Changed \(UTC\) +Runs +First message$/);
    assert.match(
      list[1]!,
      new RegExp(`^${id.slice(0, 13)}…  story  error   .{16}  1     {"topic":"broken"}$`),
    );
    assert.equal(list[2]!.trim(), 'Error: the topic is broken');
  }));

test('a run that executes is told with the node that it is in, a plain function with its name', () =>
  withServer(CONFIG, async (server) => {
    const { thread_id: id } = await server.client.threads.create();
    const gate = join(server.dir, 'gate');
    writeFileSync(`${gate}one`, '');
    const run = await server.client.runs.create(id, 'chain', {
      input: {},
      config: { configurable: { gate } },
    });
    await server.until(({ type, data }) => type === 'CheckpointSaved' && data.step === 1);
    const lines = await replay(server, '--thread', id);
    const state = await replay(server, '--thread', id, '--to', lines.at(-1)!.trim().split(' ')[0]!);
    await server.client.runs.cancel(id, run.run_id, true);
    const { thread_id: other } = await server.client.threads.create();
    await start(server, other, 'steps', { input: {}, config: { configurable: { count: 2 } } });

    assert.equal(told(lines).at(-1), '  one N ms next: two');
    assert.deepEqual(state.slice(1, 4), ['Graph    chain', 'Status   busy', 'Next     two']);
    assert.deepEqual(told(await replay(server, '--thread', other)).slice(2), [
      '  run 1 started',
      '  input next: steps',
      '  steps N ms next: steps',
      '  steps N ms',
      told(await replay(server, '--thread', other)).at(-1),
    ]);
  }));

test('a state in words has status, question, next nodes and messages as a conversation (R2)', () =>
  withServer(CONFIG, async (server) => {
    const { thread_id: id } = await server.client.threads.create();
    await start(server, id, 'story', { input: { topic: 'a', messages: 'find it' } });
    const { meta } = (await server.events()).at(-1)!;

    const lines = await replay(server, '--thread', id, '--to', String(meta.position));

    assert.match(lines[0]!, new RegExp(`^Thread ${id} at position ${meta.position}, .* \\(UTC\\)$`));
    assert.deepEqual(
      lines.slice(1).map((line) => line.replace(/[\da-f]{8}-[\da-f]{4}…/, 'ID')),
      [
        'Graph    story',
        'Status   interrupted',
        'Asks     "Shall I?"',
        'Next     publish',
        'Run 1    success, attempt 1, ID',
        'Values',
        '  messages (2)',
        '    human: find it',
        '    ai: a plan',
        '  topic: "a"',
        '  found: ["a1","a2","a3","a1","a2","a3"]',
      ],
    );
  }));

test('the list leaves out threads of stateless runs and of crons, and counts them, unless asked for all', () => {
  const clock = leapingClock();
  return withServer({ ...CONFIG, clock }, async (server) => {
    const { thread_id: id } = await server.client.threads.create();
    await start(server, id, 'steps', { input: { messages: 'hello' } });
    await server.client.runs.wait(null, 'steps', { input: { messages: 'aside' } });
    const daily = { schedule: '* * * * *', on_run_completed: 'keep', input: {} } as const;
    await server.request('POST', '/runs/crons', { assistant_id: 'steps', ...daily });
    await server.request('POST', `/threads/${id}/runs/crons`, { assistant_id: 'steps', ...daily });
    clock.leap(60_000);
    const ends = new Set<string>();
    await server.until(({ type, data }) => type === 'RunCompleted' && ends.add(data.runId).size === 4);

    const few = await replay(server);
    const all = await replay(server, '--all');

    assert.deepEqual([few.length, all.length], [3, 5]);
    assert.match(few[1]!, /  2     "hello"$/);
    assert.equal(few[2], '1 thread; 2 of stateless runs and crons not shown (--all)');
    assert.equal(all[4], '3 threads');
  });
});

test.run();
