import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { importFrom, importUserModule } from '../../../src/graphs/user-modules.ts';
import { suite } from '../../support/suite.ts';
import { withProject } from './project-harness.ts';

const test = suite('user modules');

const MODULES: Record<string, string> = {
  'top-level-await.ts': `import { word } from './word';
    export const value: string = await Promise.resolve(word);`,
  'word.ts': `export const word: string = 'ok';`,
  'module.mts': `export const value: string = await Promise.resolve('ok');`,
  'module.mjs': `export const value = await Promise.resolve('ok');`,
  'syntax-only.js': `export const value = await Promise.resolve('ok');`,
  'common.js': `const key = 'value'; module.exports[key] = 'ok';`,
  'common.cjs': `module.exports = { value: 'ok' };`,
  'mixed.ts': `import { basename } from 'node:path';
    export const value: string = basename(__filename) === 'mixed.ts' ? 'ok' : 'no';`,
  'marked/package.json': '{"type":"module"}',
  'marked/module.ts': `export const value: string = await Promise.resolve('ok');`,
  'common/package.json': '{"type":"commonjs"}',
  'common/module.ts': `export const value: string = typeof require === 'function' ? 'ok' : 'no';`,
};

test('given modules of every format outside of a package, when imported, then their exports are found', () =>
  withProject(MODULES, async (dir) => {
    for (const name of Object.keys(MODULES).filter((file) => !/word|json/.test(file)))
      assert.equal((await importUserModule(join(dir, name)))['value'], 'ok', name);
  }));

test('given a file, when a library is imported in its name, then it is the instance that the file uses', () =>
  withProject(
    { 'uses.ts': `export { Send } from '@langchain/langgraph';` },
    async (dir) => {
      const file = join(dir, 'uses.ts');
      const { Send } = await importUserModule(file);
      assert.equal((await importFrom(file, '@langchain/langgraph'))['Send'], Send);
      await assert.rejects(importFrom(join('/', 'nowhere.mjs'), '@langchain/langgraph'));
    },
    { libraries: true },
  ));

test.run();
