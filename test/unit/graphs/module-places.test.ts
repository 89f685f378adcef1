import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { describeLoadError } from '../../../src/graphs/load-error.ts';
import { importUserModule } from '../../../src/graphs/user-modules.ts';
import { suite } from '../../support/suite.ts';
import { COMMON, tsconfig, type Files } from './module-cases.ts';
import { withProject } from './project-harness.ts';

const test = suite('places in user modules');

const STACKS: Files = {
  'tsconfig.json': tsconfig({ jsx: 'react', jsxFactory: 'h' }),
  'types.ts': `interface A {\n  a: string;\n}\n\nenum E { A }\nexport const fail = (): A => {\n  throw new RangeError('typed');\n};`,
  'common/package.json': COMMON,
  'common/main.ts': `import { basename } from 'node:path';\ninterface A {\n  a: string;\n}\nexport const a: A = { a: basename('b') };\n\nexport const fail = (): A => {\n  const quiet: number = 1; throw new RangeError('common' + quiet);\n};`,
  'mixed.ts': `import { basename } from 'node:path';\ninterface A {\n  a: string;\n}\nexport const name = basename(__filename);\nexport const fail = (): A => { throw new RangeError(name); };`,
  'view.tsx': `const h = (): void => {}; type P = {\n  a: 1 };\nexport const fail = (p: P) => {\n  return <a>{p.b.c}</a>;\n};`,
};

for (const [file, place] of [
  ['types.ts', '7:9'],
  ['common/main.ts', '8:34'],
  ['mixed.ts', '6:38'],
  ['view.tsx', '4:18'],
] as const)
  test(`a stack names line and column as written: ${file}`, () =>
    withProject(STACKS, async (dir) => {
      const { fail } = (await importUserModule(join(dir, file))) as { fail(p: object): void };
      const { stack = '' } = (() => {
        try {
          fail({});
        } catch (error) {
          return error as Error;
        }
        return assert.fail();
      })();
      assert.ok(stack.includes(`${file}:${place}`), stack);
    }));

for (const [title, files, expected] of [
  [
    'TypeScript',
    { 'main.ts': `import './part';`, 'part.ts': `const a: number = 1;\nexport const b = ;` },
    'SyntaxError: part.ts:2:18: Unexpected token',
  ],
  [
    'JavaScript',
    { 'main.mjs': `import './part.mjs';`, 'part.mjs': `const a = 1;\n  export const b = ;` },
    'SyntaxError: part.mjs:2:20: Unexpected token',
  ],
  [
    'CommonJS',
    { 'main.cjs': `require('./part.cjs');`, 'part.cjs': `const a = 1;\n  const b = ;` },
    "SyntaxError: part.cjs:2:13: Unexpected token ';'",
  ],
  [
    'an export that is missing',
    {
      'main.ts': `interface A {\n  a: 1;\n}\nimport { none } from './part.ts';\nexport const a: A = none;`,
      'part.ts': `export const b = 1;`,
    },
    "SyntaxError: main.ts:4:10: The requested module './part.ts' does not provide an export named 'none'",
  ],
  [
    'a tsconfig that extends what is missing',
    { 'tsconfig.json': '{"extends":"none/tsconfig.json"}', 'main.ts': `export const a = 1;` },
    "Error: the tsconfig.json for main.ts cannot be read, or what it extends is not installed: File 'none/tsconfig.json' not found.",
  ],
  [
    'JSON',
    { 'main.mts': `import all from './part.json'; console.log(all);`, 'part.json': '{"a":' },
    'SyntaxError: part.json: Unexpected end of JSON input',
  ],
  [
    'decorators that nothing runs',
    { 'main.ts': `/**\n * @tag\n */\nconst d = (x: unknown) => {};\n  @d class A {}` },
    'SyntaxError: main.ts:5:3: decorators run only with "experimentalDecorators": true in the nearest tsconfig.json',
  ],
  [
    'a throw in another file',
    { 'main.ts': `import './part';`, 'part.ts': `type A = 1;\n\nthrow new TypeError('no key\\nat all');` },
    'TypeError: part.ts:3:7: no key',
  ],
  [
    'a throw in CommonJS',
    { 'main.cts': `import './part.cts';`, 'part.cts': `type A = 1;\n\nthrow new TypeError('no key');` },
    'TypeError: part.cts:3:7: no key',
  ],
  [
    'a throw in a package',
    {
      'main.ts': `import { check } from 'lib';\ntype A = 1;\n  check();`,
      'node_modules/lib/index.js': `exports.check = () => { throw new Error('no'); };`,
    },
    'Error: main.ts:3:3: no',
  ],
] as const)
  test(`what fails on import is named by file, line and column: ${title}`, () =>
    withProject({ 'package.json': '{}', ...files } as Files, async (dir) => {
      const main = Object.keys(files).find((name) => name.startsWith('main'))!;
      const error = await importUserModule(join(dir, main)).then(
        () => assert.fail(),
        (reason: unknown) => reason,
      );
      assert.equal(describeLoadError(error).split('\n')[0]!.replaceAll(`${dir}/`, ''), expected);
      if (title === 'TypeScript') assert.match((error as Error).message, /2 \| export const b = ;\n +: +\^/);
    }));

test.run();
