/** What a misbehaving graph does to the runs beside it, to the rest of the server, and to its start. */
import * as assert from 'uvu/assert';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scaled } from '../support/scaled.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite, type Body } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { isAlive } from '../support/process-figures.ts';
import { collect } from '../e2e/frames.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';

const all = suite('runs beside misbehaving graphs');
/** Each of them costs a program and several workers: every other one is run, and `MISBEHAVING_NEIGHBOURS=all` runs all. */
const part =
  process.env['MISBEHAVING_NEIGHBOURS'] === 'all' ? undefined : createRandom(seedFromEnv()).int(0, 1);
let count = 0;
const test = (title: string, body: Body): void => {
  if (part === undefined || count++ % 2 === part) all(title, body);
};

const config = (name = 'platform.json'): string =>
  fileURLToPath(new URL(`../fixtures/misbehaving/${name}`, import.meta.url));
/** For how long a graph spins. From 10 on the promised figures are asserted, which needs a machine of one's own. */
const SECONDS = Number(process.env['MISBEHAVING_SECONDS'] ?? 1);
/** How many frames the flood has. */
const FRAMES = Number(process.env['MISBEHAVING_FRAMES'] ?? 20_000);

interface Started {
  readonly thread: string;
  /** Of the run. */
  readonly path: string;
}

async function start(
  server: ServerProgram,
  graph: string,
  configurable: object = {},
  timeout = 240_000,
): Promise<Started> {
  const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
  const order = { assistant_id: graph, input: {}, stream_mode: 'custom', config: { configurable, timeout } };
  const { json } = await server.ask('POST', `/threads/${thread}/runs`, order);
  return { thread, path: `/threads/${thread}/runs/${json.run_id}` };
}

const begun = (server: ServerProgram, { thread }: Started) =>
  until('the graph begins', async () => (await server.ask('GET', `/threads/${thread}`)).json.values?.begun);

const statusOf = async (server: ServerProgram, { path }: Started): Promise<string> =>
  (await server.ask('GET', path)).json.status;

async function attemptsOf(server: ServerProgram, { path }: Started): Promise<unknown[]> {
  const { frames } = await collect(await server.open('GET', `${path}/stream`));
  return frames.filter(({ event }) => event === 'metadata').map(({ data }) => JSON.parse(data).attempt);
}

/** A server whose log is in order when it has stopped. */
const withServer = (
  env: Record<string, string>,
  use: (server: ServerProgram, dir: string) => Promise<void>,
): Promise<void> =>
  withPrograms(async ({ serve, dir }) => {
    const server = await serve({ args: ['--config', config()], env });
    await use(server, dir);
    assert.is(await server.end('SIGTERM'), 0, server.output());
    await assertVerified(join(dir, 'data'));
  });

test('X4 a spinning run ends when cancelled or timed out; its neighbour goes on without a lost attempt', () =>
  withServer({ PLATFORM_WORKERS: '1', PLATFORM_MAX_ATTEMPTS: '1' }, async (server, dir) => {
    const gate = join(dir, 'gate');
    const neighbour = await start(server, 'waits', { gate });
    await begun(server, neighbour);
    const guilty = await start(server, 'spins');
    await begun(server, guilty);
    assert.is((await server.ask('POST', `${guilty.path}/cancel?wait=true`)).status, 200);
    assert.is(await statusOf(server, guilty), 'interrupted');
    // The next worker is there, and the neighbour in it, before the time of the late one begins.
    await server.ask('POST', '/runs/wait', { assistant_id: 'fine', input: {} });
    const late = await start(server, 'spins', {}, 2_000);
    const { __error__: error } = (await server.ask('GET', `${late.path}/join`)).json;
    assert.equal([await statusOf(server, late), error.error], ['timeout', 'TimeoutError']);
    await writeFile(gate, '');
    const values = (await server.ask('GET', `${neighbour.path}/join`)).json;
    // Its first step was not done again.
    assert.equal(values, { begun: true, firstAttempt: 1, lastAttempt: 3 });
    assert.is(await statusOf(server, neighbour), 'success');
    assert.equal(await attemptsOf(server, neighbour), [1, 2, 3]);
  }));

test('two runs of a worker that ends by itself are tried apart, and only the guilty one fails (X4, X6)', () =>
  withServer({ PLATFORM_WORKERS: '1', PLATFORM_MAX_ATTEMPTS: '2' }, async (server, dir) => {
    const [gate, signal] = [join(dir, 'gate'), join(dir, 'signal')];
    const neighbour = await start(server, 'waits', { gate });
    const guilty = await start(server, 'exitsForRealWhenTold', { gate: signal });
    await Promise.all([begun(server, neighbour), begun(server, guilty)]);
    await writeFile(signal, '');
    const { __error__: error } = (await server.ask('GET', `${guilty.path}/join`)).json;
    assert.is(error.error, 'WorkerCrashed');
    await writeFile(gate, '');
    const values = (await server.ask('GET', `${neighbour.path}/join`)).json;
    // Both had saved in their first worker; in the second one neither, so each got one of its own.
    assert.equal(values, { begun: true, firstAttempt: 1, lastAttempt: 3 });
    assert.equal(await attemptsOf(server, guilty), [1, 2, 3, 4]);

    // Nor is the one that is left to blame for what a run before it has left behind.
    const [open, told] = [join(dir, 'open'), join(dir, 'told')];
    const innocent = await start(server, 'waits', { gate: open });
    await begun(server, innocent);
    const before = await start(server, 'exitsForRealLater', { gate: told });
    assert.equal((await server.ask('GET', `${before.path}/join`)).json, { fine: true });
    const ends = server.output().split('a graph worker ended').length;
    await writeFile(told, '');
    await server.printed(new RegExp(`(?:a graph worker ended[^]*){${ends}}`));
    await writeFile(open, '');
    const { lastAttempt } = (await server.ask('GET', `${innocent.path}/join`)).json;
    assert.is(lastAttempt, 2);
  }));

test('a stopped run whose node goes on and computes keeps no other run from ending (X4)', () =>
  withServer({ PLATFORM_WORKERS: '1', PLATFORM_MAX_ATTEMPTS: '1' }, async (server, dir) => {
    const gate = join(dir, 'gate');
    const neighbour = await start(server, 'waits', { gate });
    await begun(server, neighbour);
    const mark = join(dir, 'mark');
    const guilty = await start(server, 'nodeSpins', { mark });
    await begun(server, guilty);
    // The library ends the run at once; its node computes a moment later, for ever.
    assert.is((await server.ask('POST', `${guilty.path}/cancel?wait=true`)).status, 200);
    await until('the node computes', async () => existsSync(mark));
    assert.equal((await server.ask('POST', '/runs/wait', { assistant_id: 'fine', input: {} })).json, {
      fine: true,
    });
    await writeFile(gate, '');
    const { lastAttempt } = (await server.ask('GET', `${neighbour.path}/join`)).json;
    assert.is(lastAttempt, 2);
  }));

test('a query that ends its worker is repeated in another worker, and refused if it ends that too (X4)', () =>
  withServer({ PLATFORM_WORKERS: '1' }, async (server, dir) => {
    const write = async (name: string, times: number) => {
      const thread = { metadata: { graph_id: 'reducerExits' } };
      const { thread_id } = (await server.ask('POST', '/threads', thread)).json;
      const fall = { file: join(dir, name), times };
      return server.ask('POST', `/threads/${thread_id}/state`, { values: { fall }, as_node: 'nothing' });
    };
    assert.is((await write('once', 1)).status, 200);
    const { status, headers, json } = await write('always', 9);
    assert.equal([status, headers.get('retry-after')], [503, '1'], JSON.stringify(json));
    assert.is(await readFile(join(dir, 'always'), 'utf8'), 'xx');
    assert.is((await write('never', 0)).status, 200);
  }));

test('a stopped run that holds the threads of its worker keeps no later run from ending (X4)', () =>
  withServer({ PLATFORM_WORKERS: '1', PLATFORM_MAX_ATTEMPTS: '1' }, async (server, dir) => {
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const run = await start(server, 'readsPipes', { pipe });
    await begun(server, run);
    const { pid } = (await server.ask('GET', `/threads/${run.thread}`)).json.values;
    assert.is((await server.ask('POST', `${run.path}/cancel?wait=true`)).status, 200);
    const answerOf = async (graph: string) =>
      (await server.ask('POST', '/runs/wait', { assistant_id: graph, input: {} })).json;
    assert.is((await answerOf('exitsForReal')).__error__.error, 'WorkerCrashed');
    assert.equal(await answerOf('fine'), { fine: true });
    // Its worker hangs in its own exit, and does not outlive the server.
    assert.is(await server.end('SIGTERM'), 0, server.output());
    await until('the worker is gone', async () => !isAlive(pid));
  }));

test('reads and streams of other workers go on while a run spins, until it is cancelled (X4)', () =>
  withServer({ PLATFORM_WORKERS: '2', PLATFORM_RUN_TIMEOUT_SECS: '60' }, async (server, dir) => {
    const guilty = await start(server, 'spins');
    await begun(server, guilty);
    // The second worker comes when the first one stands still.
    const gate = join(dir, 'gate');
    const writer = await start(server, 'writes', { gate });
    let seen = '';
    const stream = await server.open('GET', `${writer.path}/stream?stream_mode=custom`);
    const reading = (async () => {
      for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) seen += chunk;
    })();
    // Heard of below, unless the test has failed before.
    reading.catch(() => undefined);
    const frames = (): string[] => seen.match(/"i":\d+/g) ?? [];
    await until('frames come', async () => frames().length > 0);

    const before = frames().length;
    const times: number[] = [];
    for (const end = performance.now() + SECONDS * 1000; performance.now() < end;)
      for (const path of ['/ok', `/threads/${guilty.thread}`, `/threads/${guilty.thread}/state`]) {
        const asked = performance.now();
        assert.is((await server.ask('GET', path)).status, 200);
        times.push(performance.now() - asked);
      }
    await until('more frames come', async () => frames().length > before);
    const slowest = Math.max(...times);
    const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
    const cancelled = performance.now();
    assert.is((await server.ask('POST', `${guilty.path}/cancel?wait=true`)).status, 200);
    const took = performance.now() - cancelled;
    if (SECONDS >= 10) console.log({ p99, slowest, took, frames: frames().length - before });
    assert.ok(p99 < (SECONDS >= 10 ? 100 : scaled(5_000)), `p99 ${p99} ms`);
    assert.ok(took < (SECONDS >= 10 ? 2_000 : scaled(20_000)), `ended after ${took} ms`);
    await writeFile(gate, '');
    await reading;
    assert.equal(await attemptsOf(server, writer), [1]);
  }));

test('a run whose native code nothing interrupts ends with its process when it is cancelled (X4)', () =>
  withServer({ PLATFORM_WORKERS: '2', PLATFORM_STOP_GRACE_SECS: '1' }, async (server, dir) => {
    const guilty = await start(server, 'waitsForChild', { gate: join(dir, 'gate') });
    await begun(server, guilty);
    // Some of these are asked before a heartbeat can say that the worker stands still.
    const reads = Array.from({ length: 3 }, () => server.ask('GET', `/threads/${guilty.thread}/state`));
    assert.equal([...new Set((await Promise.all(reads)).map(({ status }) => status))], [200]);
    assert.is((await server.ask('POST', `${guilty.path}/cancel?wait=true`)).status, 200);
    assert.is(await statusOf(server, guilty), 'interrupted');
  }));

test('a run that floods frames without waiting fills no server memory and loses none (S1, S3)', () =>
  withServer({ PLATFORM_WORKERS: '1' }, async (server) => {
    const flood = await start(server, 'floods', { count: FRAMES });
    const ok: number[] = [];
    await until('the flood is over', async () => {
      const asked = performance.now();
      await server.ask('GET', '/ok');
      ok.push(performance.now() - asked);
      return (await statusOf(server, flood)) === 'success';
    });
    if (FRAMES >= 1_000_000) console.log({ slowest: Math.max(...ok) });
    const { frames } = await collect(await server.open('GET', `${flood.path}/stream`));
    assert.is(frames.length, FRAMES + 1);
    assert.is(frames.at(-1)!.data, String(FRAMES - 1));
  }));

test('a project whose only module ends its process is told so at the start, and nothing listens', () =>
  withPrograms(async ({ run, dir }) => {
    const args = ['serve', '--config', config('platform.exits-on-load.json'), '--port', '0'];
    const { code, output } = await run({ args: [...args, '--data', join(dir, 'data')] });
    assert.match(output, /graph ".*exits-on-load.*ended with exit code/);
    assert.is(code, 2, output);
    assert.not.match(output, 'Serving on');
  }));

all.run();
