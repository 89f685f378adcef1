import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { assertVerified } from '../support/assert-verified.ts';
import { collect } from '../e2e/frames.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';

const test = suite('hostile graphs');

const PROJECT = fileURLToPath(new URL('./project/platform.json', import.meta.url));

/** Runs on a thread of the graph's own; what the run was recorded as, and what its thread holds. */
async function run(server: ServerProgram, graph: string, configurable: object = {}) {
  const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
  const order = {
    assistant_id: graph,
    input: {},
    stream_mode: ['updates', 'custom'],
    config: { configurable },
  };
  const { json } = await server.ask('POST', `/threads/${thread}/runs`, order);
  const path = `/threads/${thread}/runs/${json.run_id}`;
  const result = (await server.ask('GET', `${path}/join`)).json;
  const { status } = (await server.ask('GET', path)).json;
  const next = await server.ask('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'fine', input: {} });
  assert.is(next.json.fine, true, `the run after ${graph}`);
  assert.is((await server.ask('GET', `/threads/${thread}`)).json.status, 'idle');
  return { status, result, path };
}

/** One server for all: no graph may hurt another. Its limits are those of runs that do not end by themselves. */
let server: ServerProgram;
let leave: () => void;
let life: Promise<void>;

test.before(
  () =>
    new Promise<void>((resolve, reject) => {
      const left = new Promise<void>((leaving) => (leave = leaving));
      life = withPrograms(async ({ serve, dir }) => {
        server = await serve({ args: ['--config', PROJECT], env: { PLATFORM_STOP_GRACE_SECS: '1' } });
        resolve();
        await left;
        assert.is((await server.ask('GET', '/ok')).status, 200);
        assert.is(await server.end('SIGTERM'), 0, server.output());
        await assertVerified(join(dir, 'data'));
      });
      life.catch(reject);
    }),
);

test.after(async () => {
  leave();
  await life;
});

test('a graph that goes on after its end changes nothing any more (X2)', async () => {
  const { status, path } = await run(server, 'goesOnAfterItsEnd');
  assert.is(status, 'success');
  const frames = async () => (await collect(await server.open('GET', `${path}/stream`))).frames;
  const before = await frames();
  for (let i = 0; i < 5; i++) await run(server, 'fine');
  assert.equal(await frames(), before);
});

test('ten thousand updates and ten thousand frames of one run are all there, in order (S1)', async () => {
  const count = 10_000;
  const much = await run(server, 'yieldsMuch', { count });
  assert.equal([much.status, much.result.i], ['success', count]);
  const order = {
    assistant_id: 'writesMuch',
    input: {},
    stream_mode: 'custom',
    config: { configurable: { count } },
  };
  const live = await collect(await server.open('POST', '/runs/stream', order));
  assert.equal(
    live.frames.map(({ id, event, data }) => [id, event, event === 'custom' && JSON.parse(data).i]),
    [[0, 'metadata', false], ...Array.from({ length: count }, (_, i) => [i + 1, 'custom', i + 1])],
  );
});

test.run();
