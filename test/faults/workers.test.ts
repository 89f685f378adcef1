/** Graph workers of the real program that are killed, or whose server is. */
import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';
import { isAlive } from '../support/process-figures.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { assertVerified } from '../support/assert-verified.ts';

const test = suite('graph workers and kills');

const CONFIG = fileURLToPath(new URL('../fixtures/misbehaving/platform.json', import.meta.url));
const args = ['--config', CONFIG];

/** Starts a run and returns what it has said of its process. */
async function begin(server: ServerProgram, graph: string, configurable: object) {
  const thread = (await server.ask('POST', '/threads', {})).json.thread_id as string;
  const order = { assistant_id: graph, input: {}, config: { configurable } };
  const { run_id } = (await server.ask('POST', `/threads/${thread}/runs`, order)).json;
  const values = async () => (await server.ask('GET', `/threads/${thread}`)).json.values ?? {};
  await until('the graph begins', async () => (await values()).begun === true);
  return {
    path: `/threads/${thread}/runs/${run_id}`,
    ...((await values()) as { pid: number; child: number }),
  };
}

test('a killed server leaves no worker that computes and no child of graph code (X4)', () =>
  withPrograms(async ({ serve }) => {
    const server = await serve({ args, env: { PLATFORM_WORKERS: '1' } });
    const { pid, child } = await begin(server, 'parentSpins', {});
    assert.ok(pid !== server.pid && isAlive(pid) && isAlive(child));
    await server.end('SIGKILL');
    await until('the worker is gone', async () => !isAlive(pid));
    await until('its child is gone', async () => !isAlive(child));
  }));

test('a stop ends workers that compute, and hands their runs back (X3, X4)', () =>
  withPrograms(async ({ serve, dir }) => {
    const server = await serve({ args, env: { PLATFORM_WORKERS: '1', PLATFORM_SHUTDOWN_GRACE_SECS: '1' } });
    const { pid, child } = await begin(server, 'parentSpins', {});
    assert.is(await server.end('SIGTERM'), 0, server.output());
    assert.not.ok(isAlive(pid));
    assert.not.ok(isAlive(child));
    await assertVerified(join(dir, 'data'));
  }));

test.run();
