/** The real program while it has no file left to open, and after. */
import * as assert from 'uvu/assert';
import { Agent, request } from 'node:http';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { get, heard, openRaw } from '../support/raw-client.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';

const test = suite('no files left');

const LIMIT = 160;
const before = `ulimit -n ${LIMIT}`;
const CHILD = fileURLToPath(new URL('files/child.ts', import.meta.url));

/** Plain JavaScript, whose workers read modules without a thread of their own for it. */
const PROJECT = {
  'package.json': { type: 'module' },
  'graph.js': `import { Annotation, StateGraph } from '@langchain/langgraph';
    const State = Annotation.Root({ count: Annotation() });
    export const steps = new StateGraph(State)
      .addNode('only', ({ count }) => ({ count: count + 1 }))
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
  /** Leaves the server without files until what is returned is called. */
  takeFiles(): Promise<() => Promise<void>>;
}

async function start({ serve, dir }: Programs): Promise<Scene> {
  const project = join(dir, 'project');
  await mkdir(project);
  for (const [name, content] of Object.entries(PROJECT))
    await writeFile(join(project, name), typeof content === 'string' ? content : JSON.stringify(content));
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(project, 'node_modules'));
  const args = ['--config', join(project, 'platform.json')];
  const server = await serve({ args, before, env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } });
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
  /** One that comes is heard, which takes a file. */
  const answers = async (): Promise<boolean> => {
    const client = await openRaw(server.port, get('/ok'));
    const isHeard = await heard(client, 'HTTP/1.1 200').then(
      () => true,
      () => false,
    );
    client.destroy();
    return isHeard;
  };
  assert.is((await ask('GET', '/ok')).status, 200);
  return {
    server,
    ask,
    async takeFiles() {
      const clients = await Promise.all(Array.from({ length: LIMIT }, () => openRaw(server.port)));
      await until('no file is left', async () => !(await answers()));
      return async () => {
        for (const client of clients) client.destroy();
        await until('there are files again', answers);
      };
    },
  };
}

test('given no files, when graphs are run and asked about, then runs go on, and the questions are answered when there are files again', () =>
  withPrograms(async (programs) => {
    const { server, ask, takeFiles } = await start(programs);
    const giveBack = await takeFiles();
    assert.equal((await ask('POST', '/runs/wait', RUN)).json, { count: 2 });
    for (const question of ['schemas', 'graph'])
      assert.is((await ask('GET', `/assistants/steps/${question}`)).status, 503);
    await giveBack();
    assert.equal((await ask('POST', '/runs/wait', RUN)).json, { count: 2 });
    const { json: schemas } = await ask('GET', '/assistants/steps/schemas');
    assert.equal(Object.keys(schemas.state_schema.properties), ['count']);
    const { json: graph } = await ask('GET', '/assistants/steps/graph');
    assert.equal(
      graph.nodes.map(({ id }: { id: string }) => id),
      ['__start__', 'only', '__end__'],
    );
    await server.printed(/would not be able to any more/);
    await until('another worker has come', async () => (await ask('POST', '/runs/wait', RUN)).status === 200);
    assert.is(await server.end('SIGTERM'), 0, server.output());
  }));

test('given no files, when the first webhook is owed, then it is sent when there are files again, and nothing before counts as an attempt', () =>
  withPrograms((programs) =>
    withWebhookSink(async (sink) => {
      const { server, ask, takeFiles } = await start(programs);
      const giveBack = await takeFiles();
      const { json: run } = await ask('POST', '/runs', { ...RUN, webhook: sink.url() });
      const attempts = async (): Promise<unknown[]> =>
        (await ask('GET', `/webhooks?run_id=${run.run_id}`)).json[0]?.attempts ?? [];
      await until(
        'it was tried',
        async () => server.output().includes('reading owed webhooks') || (await attempts()).length > 0,
      );
      assert.equal(await attempts(), []);
      await giveBack();
      const [received] = await sink.next(1, 20_000);
      assert.is(JSON.parse(received!.body.toString()).run_id, run.run_id);
      await until('it is recorded', async () => (await attempts()).length > 0);
      assert.is((await attempts()).length, 1);
      assert.is(await server.end('SIGTERM'), 0, server.output());
    }),
  ));

test('given no files, when memory is given back, then it goes on', () =>
  withPrograms(async ({ run }) => {
    assert.equal(await run({ script: CHILD, before }), { code: 0, output: 'collections: 1\n' });
  }));

test.run();
