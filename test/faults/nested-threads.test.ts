/** Threads that graphs start: many of them end with their worker, while the server watches. */
import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/with-server.ts';
import { withPrograms } from '../e2e/programs.ts';

const test = suite('threads of graphs');

const CONFIG = fileURLToPath(new URL('../fixtures/hostile/platform.json', import.meta.url));
/** One is not enough to meet the moment in which something said to a thread ends the process. */
const ROUNDS = Number(process.env['NESTED_ROUNDS'] ?? 2);

test('given a run that has started many threads, when it is stopped, then they end with its worker, and the server goes on (X4)', () =>
  withPrograms(async ({ serve, dir }) => {
    // So much that they are not what is too much.
    const env = { PLATFORM_WORKERS: '2', PLATFORM_WORKER_HEAP_MB: '1024' };
    const server = await serve({ args: ['--config', CONFIG], env });
    for (let round = 0; round < ROUNDS; round++) {
      const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
      const order = { assistant_id: 'nestedMany', input: {} };
      const { json } = await server.ask('POST', `/threads/${thread}/runs`, order);
      const path = `/threads/${thread}/runs/${json.run_id}`;
      const hasBegun = async () => (await server.ask('GET', `/threads/${thread}`)).json.values?.begun;
      await until('the graph begins', hasBegun);
      assert.is((await server.ask('POST', `${path}/cancel?wait=true`)).status, 204);
      assert.is((await server.ask('GET', path)).json.status, 'interrupted');
      const { json: fine } = await server.ask('POST', '/runs/wait', { assistant_id: 'fine', input: {} });
      assert.equal(fine, { fine: true }, server.output());
    }
    assert.is(await server.end('SIGTERM'), 0, server.output());
    await assertVerified(join(dir, 'data'));
  }));

const wait = (
  server: { ask(...given: [string, string, object]): Promise<{ json: any }> },
  assistant: string,
) => server.ask('POST', '/runs/wait', { assistant_id: assistant, input: {} });

test('given a run that starts threads without end, when there are too many, then it is told so, and may start some again (X4)', () =>
  withPrograms(async ({ serve }) => {
    const env = { PLATFORM_WORKERS: '1', PLATFORM_WORKER_HEAP_MB: '1024' };
    const server = await serve({ args: ['--config', CONFIG], env });
    for (let round = 0; round < 2; round++) {
      const { __error__: error } = (await wait(server, 'nestedTooMany')).json;
      assert.is(error?.error, 'ThreadLimit', JSON.stringify(error));
      assert.match(error.message, /^The process has \d+ threads: graphs may start none beyond \d+$/);
    }
    assert.equal((await wait(server, 'nestedSmallStack')).json, { fine: true });
    assert.is(await server.end('SIGTERM'), 0, server.output());
  }));

test.run();
