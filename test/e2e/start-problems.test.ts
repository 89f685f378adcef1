import * as assert from 'uvu/assert';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from '../support/suite.ts';
import { asServer, withPrograms } from './programs.ts';
import { FUNCTION, project, withTakenPort } from './written-project.ts';

const test = suite('start, problems');

test('each unusable graph and handler is named in one line with its reason, and nothing listens', () =>
  withPrograms(async ({ run, dir }) => {
    const cwd = await project(join(dir, 'broken'), {
      'platform.json': {
        graphs: {
          good: './good.js:graph',
          nowhere: './nowhere.ts:graph',
          nothing: './good.js:missing',
          throws: './throws.js:graph',
          number: './good.js:number',
          lacks: './lacks.js:graph',
        },
        auth: { path: './auth.js:auth' },
      },
      'good.js': `${FUNCTION}export const number = 7;\n`,
      'throws.js': 'throw new RangeError("no such model");\n',
      'lacks.js': `import '@acme/models/small';\n${FUNCTION}`,
    });
    const { code, output } = await run({ args: ['serve', '--port', '0', '--data', join(dir, 'data')], cwd });
    assert.is(code, 2);
    const lines = output.trim().split('\n');
    const expected = [
      ['graph "nowhere"', 'nowhere.ts', 'does not exist'],
      ['graph "nothing"', 'good.js', 'no export "missing"'],
      ['graph "throws"', 'throws.js', /RangeError: .*:1:7: no such model/],
      ['graph "number"', 'good.js', 'is a number'],
      ['graph "lacks"', /lacks\.js:1:8: Cannot find package '@acme\/models'.*; npm install @acme\/models$/],
      ['auth', 'auth.js', 'the file does not exist'],
    ] as const;
    assert.is(lines.length, expected.length, output);
    for (const [index, parts] of expected.entries())
      for (const part of parts) assert.match(lines[index]!, part);
    assert.not.match(output, 'Serving on');
  }));

test('a graph that throws or loads too late is named, and the other graphs are served', () =>
  withPrograms(async ({ launch, dir }) => {
    const cwd = await project(join(dir, 'partly'), {
      'platform.json': {
        graphs: { late: './late.mjs:graph', throws: './throws.js:graph', good: './good.js:graph' },
      },
      'good.js': FUNCTION,
      'throws.js': 'throw new RangeError("no such model");\n',
      'late.mjs': `await new Promise((resolve) => setInterval(resolve, 1e9));\n${FUNCTION}`,
    });
    const server = await asServer(
      launch({
        args: ['serve', '--port', '0', '--data', join(dir, 'data')],
        ...{ cwd, env: { PLATFORM_GRAPH_LOAD_SECS: '3' } },
      }),
    );
    for (const said of [
      /graph \W+late\W+.*late\.mjs\): the file has not loaded within 3 s.*; its next run tries again/,
      /graph \W+throws\W+.*RangeError: .*:1:7: no such model; it is not served/,
    ])
      assert.match(server.output(), said);
    const ask = (graph: string) => server.ask('POST', '/runs/wait', { assistant_id: graph, input: {} });
    const [good, throws, late] = [await ask('good'), await ask('throws'), await ask('late')];
    assert.equal(good.json, { seen: null });
    assert.is(throws.status, 422);
    assert.match(throws.json.detail, 'Graph "throws" is not served: the file throws on import: RangeError');
    assert.match(JSON.stringify(late.json), /GraphNotLoaded.*has not loaded within 3 s/);
  }));

test('problems of the file, the environment, the graphs, the auth handler and the port come together', () =>
  withPrograms(async ({ run, dir }) =>
    withTakenPort(async (port) => {
      const cwd = await project(join(dir, 'all'), {
        'platform.json': {
          graphs: { fine: './good.js:graph', nothing: './good.js:missing', odd: 3 },
          auth: { path: './auth.js:auth' },
          crons: { catch_up: 'sometimes' },
          stoer: {},
        },
        'good.js': FUNCTION,
      });
      const { code, output } = await run({
        args: ['serve', '--port', String(port), '--data', join(dir, 'data')],
        cwd,
        env: { PLATFORM_MAX_ATTEMPTS: 'many' },
      });
      assert.is(code, 2);
      for (const part of [
        /platform\.json: stoer is unknown and has no effect; did you mean \W+store/,
        /^.*platform\.json: graphs\.odd: expected "<file>:<variable>"/m,
        /^.*platform\.json: crons\.catch_up: /m,
        /^PLATFORM_MAX_ATTEMPTS: .*"many"$/m,
        /^graph "nothing" \(.*good\.js\): .*no export "missing"/m,
        /^auth \(.*auth\.js\): /m,
        new RegExp(`^port ${port} of 127\\.0\\.0\\.1 is taken`, 'm'),
      ])
        assert.match(output, part);
      assert.not.match(output, 'graph "fine"');
      assert.equal(existsSync(join(dir, 'data')), false);
    }),
  ));

test('a limit of open files that is too low is a clear error with exit code 2', () =>
  withPrograms(async ({ run, dir }) => {
    const cwd = await project(join(dir, 'few-files'), {
      'platform.json': { graphs: { good: './good.js:graph' } },
      'good.js': FUNCTION,
    });
    const args = ['serve', '--port', '0', '--data', join(dir, 'data')];
    const { code, output } = await run({ args, cwd, before: 'ulimit -n 100' });
    assert.is(code, 2);
    assert.match(output, 'may open 100 files; expected at least 128');
  }));

test('a shared library that the machine lacks is named in one line', () =>
  withPrograms(async ({ run, dir }) => {
    // given an addon that needs a library which no machine has
    const addons = fileURLToPath(new URL('../../node_modules/@oxc-transform', import.meta.url));
    const folder = join(addons, readdirSync(addons)[0]!);
    const bytes = readFileSync(
      join(
        folder,
        readdirSync(folder).find((name) => name.endsWith('.node'))!,
      ),
    );
    bytes.write('librX', bytes.indexOf('librt.so.1\0'));
    const addon = join(dir, 'addon.node');
    writeFileSync(addon, bytes);
    const cwd = await project(join(dir, 'fine'), {
      'platform.json': { graphs: { good: './good.js:graph' } },
      'good.js': FUNCTION,
    });
    const args = ['serve', '--port', '0', '--data', join(dir, 'data')];
    const { code, output } = await run({ args, cwd, env: { NAPI_RS_NATIVE_LIBRARY_PATH: addon } });
    assert.is(code, 2);
    assert.match(
      output,
      ': librX.so.1: this machine lacks the shared library; install the package that has it',
    );
    assert.is(output.trim().split('\n').length, 1, output);
  }));

test('a second process on the same data directory is refused while the first goes on', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const first = await serve();
    const config = fileURLToPath(new URL('../fixtures/project', import.meta.url));
    const second = await run({
      args: ['serve', '--config', config, '--port', '0', '--data', join(dir, 'data')],
    });
    assert.is(second.code, 3);
    assert.match(second.output, `${dir}/data is in use by another server`);
    assert.is((await first.ask('POST', '/threads', {})).status, 200);
  }));

test.run();
