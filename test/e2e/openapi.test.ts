import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { suite } from '../support/suite.ts';
import { asServer, withPrograms } from './programs.ts';
import { FUNCTION, project } from './written-project.ts';

const test = suite('openapi command');

test('the openapi command prints what a server of the same project answers, and ends', () =>
  withPrograms(async ({ launch, run, dir }) => {
    const cwd = await project(join(dir, 'mine'), {
      'platform.json': {
        graphs: { graph: './graph.js:graph' },
        auth: { path: './auth.js:auth', openapi: { securitySchemes: { mine: { type: 'http' } } } },
        http: { app: './app.js:app', mount_prefix: '/agents', disable_store: true },
      },
      'graph.js': FUNCTION,
      'auth.js': `import { Auth } from 'rewound/auth';
        export const auth = new Auth().authenticate(() => 'ann');`,
      // A module that holds the process open, as a pool of connections does.
      'app.js': `setInterval(() => undefined, 60_000);
        export const app = { fetch: () => new Response(null, { status: 404, headers: { 'x-not-handled': '1' } }),
          openapi: { info: { title: 'Mine' } } };`,
    });
    const server = await asServer(launch({ args: ['serve', '--port', '0'], cwd }));
    const { json } = await server.ask('GET', '/openapi.json');
    const { code, output } = await run({ args: ['openapi'], cwd });
    assert.equal(code, 0);
    // The difference of two documents would fill the screen.
    assert.ok(isDeepStrictEqual(JSON.parse(output), json));
    assert.deepEqual([json.info.title, json.servers], ['Mine', [{ url: '/agents' }]]);
    assert.equal('/store/items' in json.paths, false);
    assert.ok('mine' in json.components.securitySchemes);
  }));

test('the openapi command tells what is wrong with the configuration and the app, and exits 2', () =>
  withPrograms(async ({ run, dir }) => {
    const files = { 'platform.json': { graphs: { a: './a.js' }, http: { app: './app.js:app' } } };
    const cwd = await project(join(dir, 'mine'), { ...files, 'app.js': 'export const app = 7;\n' });
    const { code, output } = await run({ args: ['openapi'], cwd });
    assert.equal(code, 2);
    assert.match(output, /^http\.app \(.*app\.js\): its export "app" is no object with fetch$/m);
  }));

test.run();
