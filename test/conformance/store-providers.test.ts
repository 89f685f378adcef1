/** Embedding models of providers, with packages that only look like the real ones. */
import * as assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/config.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('conformance: embedding models of providers');

/** A project with an index of this model and, if given, the provider's package. */
function writeProject(dir: string, embed: string, installed?: { name: string; code: string }): string {
  const graphs = { hello: './hello.mjs:graph' };
  writeFileSync(join(dir, 'hello.mjs'), 'export const graph = () => ({});');
  writeFileSync(join(dir, 'platform.json'), JSON.stringify({ graphs, store: { index: { dims: 3, embed } } }));
  if (installed === undefined) return join(dir, 'platform.json');
  const folder = join(dir, 'node_modules', installed.name);
  mkdirSync(folder, { recursive: true });
  const { name } = installed;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, type: 'module', main: 'index.js' }));
  writeFileSync(join(folder, 'index.js'), installed.code);
  return join(dir, 'platform.json');
}

/** Its vectors are found again only if it was made for the model `small`. */
const modelClass = (className: string): string => `
  export class ${className} {
    constructor(options) { this.options = options; }
    async embedDocuments(texts) {
      return texts.map(() => [this.options.model === 'small' ? 1 : 0, 0, 0]);
    }
  }`;

const problemsOf = async (config: string): Promise<string> => {
  const started = withServer({ config }, async () => undefined);
  const error = await started.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigError, String(error));
  return error.problems.join('\n');
};

test('a model of a provider is made with the package that the project has installed', () =>
  withTempDir(async (dir) => {
    const code = modelClass('OpenAIEmbeddings');
    const config = writeProject(dir, 'openai:small', { name: '@langchain/openai', code });
    await withServer({ config }, async (s) => {
      await s.client.store.putItem(['n'], 'a', { text: 'cats' });
      const { items } = await s.client.store.searchItems(['n'], { query: 'dogs' });
      assert.equal(items[0]?.key, 'a');
      assert.equal(items[0]?.score, 1);
    });
  }));

test('a package of a provider that is missing is named with the command that installs it', () =>
  withTempDir(async (dir) => {
    const problem = await problemsOf(writeProject(dir, 'cohere:embed-v4'));
    assert.ok(
      problem.endsWith(
        `store.index.embed ("cohere:embed-v4"): the package @langchain/cohere is not installed in ${dir}; ` +
          'run "npm install @langchain/cohere" there',
      ),
      problem,
    );
  }));

test('a package of a provider without the expected class, or whose class throws, is told at start', () =>
  withTempDir(async (dir) => {
    const name = '@langchain/mistralai';
    const other = await problemsOf(
      writeProject(dir, 'mistralai:m', { name, code: 'export const other = 1;' }),
    );
    assert.match(other, /@langchain\/mistralai in .* does not export MistralAIEmbeddings/);
  }).then(() =>
    withTempDir(async (dir) => {
      const code = `export class OllamaEmbeddings { constructor() { throw new Error('no key was found'); } }`;
      const thrown = await problemsOf(writeProject(dir, 'ollama:m', { name: '@langchain/ollama', code }));
      assert.match(thrown, /store\.index\.embed \("ollama:m"\): no key was found/);
    }),
  ));

test.run();
