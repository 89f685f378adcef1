import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('conformance: graphs that are not served');

test('runs of a Python graph answer why they cannot be, and the other graphs are served', () =>
  withTempDir(async (dir) => {
    const config = join(dir, 'langgraph.json');
    writeFileSync(join(dir, 'hello.mjs'), 'export const graph = () => ({ said: "hello" });');
    const graphs = { hello: './hello.mjs:graph', snake: { path: './snake.py:graph', description: 'Later' } };
    writeFileSync(config, JSON.stringify({ graphs }));
    await withServer({ config }, async (s) => {
      assert.deepEqual(s.server.graphIds, ['hello']);
      assert.deepEqual(await s.client.runs.wait(null, 'hello', { input: {} }), { said: 'hello' });
      const detail = 'Graph "snake" is not served: it is Python, which is not supported yet';
      const [assistant] = await s.client.assistants.search({ graphId: 'snake' });
      assert.equal(assistant?.description, 'Later');
      for (const [method, path, body] of [
        ['POST', '/runs/wait', { assistant_id: 'snake', input: {} }],
        ['POST', '/assistants', { graph_id: 'snake' }],
        ['GET', `/assistants/${assistant?.assistant_id}/schemas`, undefined],
      ] as const) {
        const { status, json } = await s.request(method, path, body);
        assert.deepEqual([status, json], [422, { detail }], path);
      }
      const unknown = await s.request('POST', '/assistants', { graph_id: 'nobody' });
      assert.equal(unknown.status, 404);
    });
  }));

test.run();
