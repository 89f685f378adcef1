import * as assert from 'uvu/assert';
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from '../support/suite.ts';
import { asServer, withPrograms } from './programs.ts';
import { FUNCTION, project, withTakenPort } from './written-project.ts';

const test = suite('start');

const PROJECT = fileURLToPath(new URL('../fixtures/project/', import.meta.url));

/** Runs graph `graph` once and tells what it saw of the variable `SEEN`. */
const seenBy = async (url: string): Promise<unknown> => {
  const response = await fetch(`${url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"assistant_id":"graph","input":{}}',
  });
  return ((await response.json()) as { seen: unknown }).seen;
};

test('start prints the address, the graphs, the data file and a curl line that works as it stands', () =>
  withPrograms(async ({ serve, dir }) => {
    // given: graphs of both kinds
    const server = await serve({ args: ['--config', join(PROJECT, 'platform.json')] });
    await server.printed(/}'$/m);
    const output = server.output();
    assert.match(output, /^Serving on\s+http:\/\/127\.0\.0\.1:\d+$/m);
    assert.match(output, /^Graphs\s+echo, steps, gate, .*breaks$/m);
    assert.match(output, new RegExp(`^Data\\s+${join(dir, 'data')}/log\\.db$`, 'm'));
    const curl = /^Try\s+(curl [^]*}')$/m.exec(output)![1]!;
    const { stdout } = await promisify(execFile)('bash', ['-c', curl]);
    const { messages } = JSON.parse(stdout) as { messages: { content: string }[] };
    assert.equal(
      messages.map(({ content }) => content),
      ['hello', 'echo: hello'],
    );
  }));

test('the environment names configuration, host, port and data, and the command line wins over it', () =>
  withPrograms(async ({ launch, dir }) =>
    withTakenPort(async (taken) => {
      const config = await project(join(dir, 'named'), {
        'platform.json': { graphs: { graph: './graph.js:graph' } },
        'graph.js': FUNCTION,
      });
      const env = {
        PLATFORM_CONFIG: config,
        PLATFORM_HOST: 'localhost',
        PLATFORM_PORT: '0',
        PLATFORM_DATA: join(dir, 'from-env'),
      };
      const told = await asServer(launch({ args: ['serve'], env }));
      assert.match(told.url, /^http:\/\/localhost:[1-9]\d*$/);
      assert.match(told.output(), `${dir}/from-env/log.db`);
      assert.is(await told.end('SIGTERM'), 0);

      const other = await project(join(dir, 'other'), {
        'mine.json': { graphs: { other: './graph.js:graph' } },
        'graph.js': FUNCTION,
      });
      const args = [
        '--config',
        join(other, 'mine.json'),
        '--host',
        '127.0.0.1',
        '--port',
        '0',
        '--data',
        join(dir, 'given'),
      ];
      const wrong = { ...env, PLATFORM_CONFIG: '/nowhere', PLATFORM_PORT: String(taken) };
      const won = await asServer(launch({ args: ['serve', ...args], env: wrong }));
      assert.match(won.url, /^http:\/\/127\.0\.0\.1:/);
      assert.is.not(won.port, taken);
      assert.match(won.output(), /^Graphs\s+other$/m);
      assert.match(won.output(), `${dir}/given/log.db`);
    }),
  ));

test('what server and worker have compiled is kept for the next start', () =>
  withPrograms(async ({ launch, dir }) => {
    const files = { 'platform.json': { graphs: { graph: './graph.js:graph' } }, 'graph.js': FUNCTION };
    const cwd = await project(join(dir, 'compiled'), files);
    // Node tells what it finds. The variable of the test's runner would name another folder.
    const env = { NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const compiledBefore = async (): Promise<string[]> => {
      const server = await asServer(launch({ args: ['serve', '--port', '0'], cwd, env }));
      assert.is(await server.end('SIGTERM'), 0);
      return [...server.output().matchAll(/ file:\S*\/(main\.js|graph\.js) was accepted/g)].map(
        ([, name]) => name!,
      );
    };
    assert.not.ok((await compiledBefore()).includes('graph.js'));
    assert.equal(await compiledBefore(), ['main.js', 'graph.js']);
  }));

test('without a name platform.json of the working directory is read, and langgraph.json when there is none', () =>
  withPrograms(async ({ launch, run, dir }) => {
    const both = {
      'platform.json': { graphs: { graph: './graph.js:graph' } },
      'langgraph.json': { graphs: { fallback: './graph.js' } },
      'graph.js': `${FUNCTION}export default graph;\n`,
    };
    const first = await asServer(
      launch({ args: ['serve', '--port', '0'], cwd: await project(join(dir, 'both'), both) }),
    );
    assert.match(first.output(), /^Graphs\s+graph$/m);
    assert.match(first.output(), `${dir}/both/.platform/log.db`);
    const { 'platform.json': _, ...fallback } = both;
    const second = await asServer(
      launch({ args: ['serve', '--port', '0'], cwd: await project(join(dir, 'one'), fallback) }),
    );
    assert.match(second.output(), /^Graphs\s+fallback$/m);
    const cwd = await project(join(dir, 'none'), {});
    const none = await run({ args: ['serve'], cwd });
    assert.is(none.code, 2);
    assert.match(none.output, 'neither platform.json nor langgraph.json');
  }));

test("graphs see variables of the env file or map, after the process's own; a missing file only warns", () =>
  withPrograms(async ({ launch, dir }) => {
    const start = async (name: string, env: unknown, own: Record<string, string> = {}) => {
      const cwd = await project(join(dir, name), {
        'platform.json': { graphs: { graph: './graph.js:graph' }, env },
        'graph.js': FUNCTION,
        '.env': '# comment\nSEEN="from the file"\n',
      });
      return asServer(launch({ args: ['serve', '--port', '0'], cwd, env: own }));
    };
    const [file, map, own, missing] = await Promise.all([
      start('file', '.env'),
      start('map', { SEEN: 'from the map' }),
      start('own', '.env', { SEEN: 'from the process' }),
      start('missing', '.env.local'),
    ]);
    assert.is(await seenBy(file.url), 'from the file');
    assert.is(await seenBy(map.url), 'from the map');
    assert.is(await seenBy(own.url), 'from the process');
    assert.is(await seenBy(missing.url), null);
    assert.match(missing.output(), `${dir}/missing/.env.local does not exist`);
  }));

test('a project anywhere runs JavaScript and TypeScript graphs and its own auth handler without a build', () =>
  withPrograms(async ({ launch, dir }) => {
    const cwd = await project(join(dir, 'mine'), {
      'platform.json': {
        graphs: { common: './common.cjs:graph', module: './module.mjs', typed: './typed.ts:graph' },
        auth: { path: './auth.ts:auth' },
      },
      'common.cjs': 'exports.graph = async (state) => ({ answer: `common ${state.question}` });\n',
      'module.mjs': `import { Annotation, StateGraph } from '@langchain/langgraph';
        const State = Annotation.Root({ question: Annotation(), answer: Annotation() });
        export default new StateGraph(State)
          .addNode('only', (state) => ({ answer: 'module ' + state.question }))
          .addEdge('__start__', 'only');`,
      'typed.ts': `interface State { readonly question: string }
        export const graph = async function* (state: State, config: { configurable: Record<string, unknown> }) {
          const user = config.configurable['langgraph_auth_user'] as { identity: string };
          yield { answer: \`typed \${state.question} for \${user.identity}\` };
        };`,
      'auth.ts': `import { Auth, HTTPException } from 'rewound/auth';
        export const auth: Auth = new Auth().authenticate((request: Request) => {
          if (request.headers.get('x-name') === null) throw new HTTPException(401, { message: 'Who are you?' });
          return { identity: request.headers.get('x-name')! };
        });`,
    });
    await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(cwd, 'node_modules'));
    const server = await asServer(launch({ args: ['serve', '--port', '0'], cwd }));
    const ask = async (graph: string, headers: Record<string, string>) =>
      server.ask('POST', '/runs/wait', { assistant_id: graph, input: { question: 'why' } }, headers);
    const stranger = await ask('typed', {});
    assert.is(stranger.status, 401);
    assert.equal(stranger.json, { detail: 'Who are you?' });
    const answers = await Promise.all(
      ['common', 'module', 'typed'].map((graph) => ask(graph, { 'x-name': 'ann' })),
    );
    assert.equal(
      answers.map(({ json }) => json.answer),
      ['common why', 'module why', 'typed why for ann'],
    );
  }));

test('a project of plain JavaScript needs no loader, one whose imports only a loader finds gets it', () =>
  withPrograms(async ({ serve, dir }) => {
    const where = await project(join(dir, 'plain'), {
      'package.json': { type: 'module' },
      'own.js': `export const name = 'own';\n`,
      'typed.ts': `export const name: string = 'typed';\n`,
      'graph.js': `import { name } from './own.js';\nexport const graph = () => ({ seen: name });\n`,
      'loose.js': `import { name } from './typed';\nexport const graph = () => ({ seen: name });\n`,
      'platform.json': { graphs: { graph: './graph.js:graph' } },
      'loose.json': { graphs: { graph: './loose.js:graph' } },
    });
    for (const [config, seen] of Object.entries({ 'platform.json': 'own', 'loose.json': 'typed' })) {
      const server = await serve({ args: ['--config', join(where, config), '--data', join(dir, config)] });
      assert.is(await seenBy(server.url), seen);
      await server.end('SIGTERM');
    }
  }));

test.run();
