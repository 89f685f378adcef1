import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { withTempDir } from '../support/temp-dir.ts';

const test = suite('conformance: files of graphs and of the server');

const FILES = {
  'shared.mjs': 'export const seen = new Set();',
  'graph.mjs': "import { seen } from './shared.mjs';\nexport const graph = () => ({ seen: seen.size });",
  'app.mjs':
    "import { seen } from './shared.mjs';\nexport const app = { fetch: () => new Response(`${seen.size}`) };",
  'platform.json': JSON.stringify({
    graphs: { graph: './graph.mjs:graph' },
    http: { app: './app.mjs:app' },
  }),
};

test('a file that graphs and the own app both load is named at start: they share no module state', () =>
  withTempDir(async (dir) => {
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(dir, name), text);
    await withServer({ config: join(dir, 'platform.json'), workers: 1 }, async ({ warnings }) => {
      const shared = warnings.filter((text) => text.includes('share no module state'));
      assert.equal(shared.length, 1, warnings.join('\n'));
      assert.match(shared[0]!, /shared\.mjs is loaded by graphs/);
    });
  }));

test.run();
