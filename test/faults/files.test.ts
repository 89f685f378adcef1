/** The real program while it has no file left to open, and after. */
import * as assert from 'uvu/assert';
import { Agent, request } from 'node:http';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';

const test = suite('no files left');

/** Fewer than a process has open: every further one is refused, until the limit is raised again. */
const MIN_FILES = '3';
const lacking =
  spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit is not installed (util-linux)';
const CHILD = fileURLToPath(new URL('files/child.ts', import.meta.url));

/** The graph tells which worker it runs in. */
const PROJECT = {
  'package.json': { type: 'module' },
  'graph.js': `import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ count: Annotation(), pid: Annotation() });
    export const steps = new StateGraph(State)
      .addNode('only', ({ count }) => ({ count: count + 1, pid: process.pid }))
      .addEdge('__start__', 'only')
      .compile();`,
  'platform.json': {
    graphs: { steps: './graph.js:steps' },
    webhooks: { url: { disable_loopback: false } },
  },
};
const RUN = { assistant_id: 'steps', input: { count: 1 } };

interface Scene {
  readonly server: ServerProgram;
  /** By a connection from before: the only way while there are no files. */
  ask(method: string, path: string, body?: object): Promise<{ status: number; json: any }>;
  /** Leaves the server without files until the function that is returned is called. */
  takeFiles(): () => void;
}

async function start({ serve, dir }: Programs): Promise<Scene> {
  const project = join(dir, 'project');
  await mkdir(project);
  for (const [name, content] of Object.entries(PROJECT))
    await writeFile(join(project, name), typeof content === 'string' ? content : JSON.stringify(content));
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(project, 'node_modules'));
  const args = ['--config', join(project, 'platform.json')];
  const server = await serve({ args, env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask: Scene['ask'] = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(`${server.url}${path}`, {
        ...{ agent, method },
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        text(response).then(
          (said) => resolve({ status: response.statusCode!, json: JSON.parse(said) }),
          reject,
        );
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  assert.is((await ask('GET', '/ok')).status, 200);
  return {
    server,
    ask,
    takeFiles() {
      const usual = limitFiles(server.pid, MIN_FILES);
      return () => void limitFiles(server.pid, usual);
    },
  };
}

/** Sets the soft limit of the process, and returns the limit before. Files that are open stay open. */
function limitFiles(pid: number, limit: string): string {
  const prlimit = (...args: string[]): string =>
    execFileSync('prlimit', [`--pid=${pid}`, ...args], { encoding: 'utf8' }).trim();
  const usual = prlimit('--nofile', '--output=SOFT', '--noheadings', '--raw');
  prlimit(`--nofile=${limit}:`);
  return usual;
}

test(
  'a server without files runs and describes graphs, and replaces a dead worker once it has files (X4)',
  () =>
    withPrograms(async (programs) => {
      const { server, ask, takeFiles } = await start(programs);
      const giveBack = takeFiles();
      const { json: first } = await ask('POST', '/runs/wait', RUN);
      assert.is(first.count, 2);
      for (const question of ['schemas', 'graph'])
        assert.is((await ask('GET', `/assistants/steps/${question}`)).status, 200);
      process.kill(first.pid, 'SIGKILL');
      await server.printed(/"too many open files: [^"]*could not be started: [^"]*EMFILE \(raise the limit/);
      giveBack();
      const { json: second } = await ask('POST', '/runs/wait', RUN);
      assert.is(second.count, 2);
      assert.is.not(second.pid, first.pid);
      const { json: schemas } = await ask('GET', '/assistants/steps/schemas');
      assert.equal(Object.keys(schemas.state_schema.properties).sort(), ['count', 'pid']);
      const { json: graph } = await ask('GET', '/assistants/steps/graph');
      assert.equal(
        graph.nodes.map(({ id }: { id: string }) => id),
        ['__start__', 'only', '__end__'],
      );
      assert.is((await server.ask('GET', '/ok')).status, 200, 'a new connection');
      assert.not.match(server.output(), /uncaught|unhandled|"stack":"[^"]*EMFILE/);
      assert.is(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test(
  'a webhook owed while no file can be opened is sent once one can; no attempt counts before',
  () =>
    withPrograms((programs) =>
      withWebhookSink(async (sink) => {
        const { server, ask, takeFiles } = await start(programs);
        const giveBack = takeFiles();
        const { json: run } = await ask('POST', '/runs', { ...RUN, webhook: sink.url() });
        const attempts = async (): Promise<unknown[]> =>
          (await ask('GET', `/webhooks?run_id=${run.run_id}`)).json[0]?.attempts ?? [];
        await server.printed(/reading owed webhooks/);
        giveBack();
        const [received] = await sink.next(1);
        assert.is(JSON.parse(received!.body.toString()).run_id, run.run_id);
        await until('it is recorded', async () => (await attempts()).length > 0);
        assert.is((await attempts()).length, 1);
        assert.is(await server.end('SIGTERM'), 0, server.output());
      }),
    ),
  { lacking },
);

test('given no files, when memory is given back, then it goes on', () =>
  withPrograms(async ({ run }) => {
    assert.equal(await run({ script: CHILD, before: 'ulimit -n 160' }), {
      code: 0,
      output: 'collections: 1\n',
    });
  }));

test.run();
