import * as assert from 'uvu/assert';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { assertDense, attemptsIn, collect } from './frames.ts';
import { marksOf, reached } from './marks.ts';
import { withPrograms, type ServerProgram } from './programs.ts';

const test = suite('stop');

const PROJECT = fileURLToPath(new URL('./project/platform.json', import.meta.url));
/** Longer than any machine needs when nothing is waited for. */
const GRACE_MS = scaled(25) * 1_000;
/** The second lost attempt ends a run. */
const STRICT = { PLATFORM_MAX_ATTEMPTS: '2', PLATFORM_SHUTDOWN_GRACE_SECS: String(GRACE_MS / 1_000) };

/** Sends the signal; resolves when the program is gone, with its exit code and how long it took. */
async function stop(
  server: ServerProgram,
  signal: NodeJS.Signals,
): Promise<{ code: number | null; ms: number }> {
  const began = performance.now();
  const code = await server.end(signal);
  return { code, ms: performance.now() - began };
}

test('SIGTERM stops running graphs, breaks off open replies and loses nothing across the restart (S2, X5)', () =>
  withPrograms(async ({ serve, dir }) => {
    const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
    const config = ['--config', PROJECT];
    const first = await serve({ args: config, env: STRICT });
    const order = { assistant_id: 'listens', config: { configurable: { marks, gate } } };
    const create = async () => (await first.ask('POST', '/threads', {})).json.thread_id as string;
    const [streamed, waited, queued] = [await create(), await create(), await create()];
    const stream = await first.open('POST', `/threads/${streamed}/runs/stream`, {
      ...order,
      stream_mode: ['updates', 'values'],
    });
    const wait = await first.open('POST', `/threads/${waited}/runs/wait`, order);
    await first.ask('POST', `/threads/${queued}/runs`, order);
    const last = (await first.ask('POST', `/threads/${queued}/runs`, order)).json;
    await reached(marks, 'waits', 3);

    const got = collect(stream);
    const waiting = wait.text().then(
      (text) => `a complete answer: ${text}`,
      () => 'broken off',
    );
    const stopped = stop(first, 'SIGTERM');
    await first.printed(/^SIGTERM: stopping$/m);
    const late = await first.ask('POST', '/threads', {}).catch(() => ({ status: 503 }));
    assert.is(late.status, 503);
    const { code, ms } = await stopped;
    assert.is(code, 0);
    assert.ok(ms < GRACE_MS, `${ms} ms`);
    assert.equal(
      marksOf(marks)
        .filter((line) => line.startsWith('told'))
        .sort(),
      ['told: shutdown', 'told: shutdown', 'told: shutdown'],
    );
    const { frames, broken } = await got;
    assert.ok(broken, 'a stream that ends cleanly would look complete');
    assert.is(await waiting, 'broken off');
    await assertVerified(join(dir, 'data'));

    const second = await serve({ args: [...config, '--port', String(first.port)], env: STRICT });
    await writeFile(gate, '');
    const resume = { 'last-event-id': String(frames.at(-1)!.id) };
    const rest = await collect(await second.open('GET', stream.headers.get('location')!, undefined, resume));
    const whole = await collect(await second.open('GET', stream.headers.get('location')!));
    assert.not(rest.broken);
    assert.equal([...frames, ...rest.frames], whole.frames);
    assertDense(whole.frames);
    assert.equal(attemptsIn(whole.frames), [1, 2]);
    const answer = await second.ask('GET', wait.headers.get('location')!);
    assert.equal(answer.json, { done: ['first', 'second'] });
    assert.equal((await second.ask('GET', `/threads/${queued}/runs/${last.run_id}/join`)).json, {
      done: ['first', 'second'],
    });
    for (const thread of [streamed, waited, queued]) {
      const runs = (await second.ask('GET', `/threads/${thread}/runs`)).json as { status: string }[];
      assert.ok(runs.every(({ status }) => status === 'success'));
      assert.is((await second.ask('GET', `/threads/${thread}`)).json.status, 'idle');
    }
  }));

test('a graph that ignores its signal does not delay the exit on SIGINT, and its attempt does not count', () =>
  withPrograms(async ({ serve, dir }) => {
    const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
    const order = { assistant_id: 'stubborn', config: { configurable: { marks, gate } } };
    const first = await serve({ env: STRICT });
    const run = (await first.ask('POST', '/runs', order)).json;
    await reached(marks, 'started');
    const { code, ms } = await stop(first, 'SIGINT');
    assert.is(code, 0);
    assert.match(first.output(), /^SIGINT: stopping$/m);
    assert.ok(ms < GRACE_MS, `${ms} ms`);

    const second = await serve({ env: STRICT });
    await reached(marks, 'started', 2);
    await second.end('SIGKILL');
    // One attempt was handed back and one was lost: with both lost the run would have ended.
    const third = await serve({ env: STRICT });
    await writeFile(gate, '');
    const { messages } = (await third.ask('GET', `/runs/${run.run_id}/join`)).json;
    assert.is(messages?.[0].content, 'at last');
  }));

test('an unfinished request delays the exit by the grace at most, and less after a second signal', () =>
  withPrograms(async ({ serve, dir }) => {
    const half =
      'POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{';
    const start = async (data: string, graceMs: number): Promise<ServerProgram> => {
      const server = await serve({
        env: { PLATFORM_SHUTDOWN_GRACE_SECS: String(graceMs / 1_000) },
        args: ['--data', join(dir, data)],
      });
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      await new Promise((resolve) => socket.write(half, resolve));
      // Answered on another connection: the half request was read before.
      await server.ask('GET', '/ok');
      return server;
    };
    const [patient, hurried] = await Promise.all([start('patient', 1_000), start('hurried', GRACE_MS)]);
    const { code, ms } = await stop(patient, 'SIGTERM');
    assert.is(code, 0);
    assert.ok(ms < GRACE_MS, `${ms} ms`);

    const asked = performance.now();
    const slow = stop(hurried, 'SIGTERM');
    await hurried.printed(/stopping/);
    const again = setInterval(() => void hurried.end('SIGTERM'), 100);
    const hurriedEnd = await slow;
    clearInterval(again);
    assert.is(hurriedEnd.code, null, 'the signal ended it');
    assert.ok(performance.now() - asked < GRACE_MS, 'it waited for its client');
  }));

test('a signal that comes twice at once, as from npm in a terminal, stops like one: runs are handed back', () =>
  withPrograms(async ({ serve, dir }) => {
    const [marks, gate] = [join(dir, 'marks'), join(dir, 'gate')];
    const order = { assistant_id: 'stubborn', config: { configurable: { marks, gate } } };
    const server = await serve({ env: STRICT });
    await server.ask('POST', '/runs', order);
    await reached(marks, 'started');
    const stopped = stop(server, 'SIGINT');
    await server.printed(/stopping/);
    void server.end('SIGINT');
    assert.is((await stopped).code, 0, server.output());
  }));

test('SIGTERM ends a start that waits for a module of the project long before it would give up by itself', () =>
  withPrograms(async ({ launchServer, dir }) => {
    const where = join(dir, 'project');
    await mkdir(where);
    await writeFile(join(where, 'platform.json'), JSON.stringify({ graphs: { graph: './graph.mjs:graph' } }));
    const waits = `console.log('it loads'); await new Promise(() => setInterval(() => {}, 1_000));`;
    await writeFile(join(where, 'graph.mjs'), `${waits}\nexport const graph = () => ({});\n`);
    const server = launchServer({ args: ['--config', join(where, 'platform.json')] });
    await server.printed(/it loads/);
    const began = performance.now();
    assert.is(await server.end('SIGTERM'), null, server.output());
    const ms = performance.now() - began;
    assert.ok(ms < GRACE_MS, `${ms} ms`);
  }));

test.run();
