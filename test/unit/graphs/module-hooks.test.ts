import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Auth } from '../../../src/auth/auth.ts';
import { importFrom, importUserModule } from '../../../src/graphs/user-modules.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { COMPILER_CASES } from './compiler-cases.ts';
import { CASES as MODULE_CASES, COMMON, MODULE, tsconfig } from './module-cases.ts';
import { PACKAGES, withProject, writeFiles } from './project-harness.ts';

const test = suite('module hooks');
const CASES = [...MODULE_CASES, ...COMPILER_CASES];

/** Imports the main file of each case, with the hooks of the program as it is built, and prints what it exports. */
const BUILT = `
  const { importUserModule } = await import(process.argv[1]);
  for (const file of process.argv.slice(2))
    console.log(JSON.stringify(await importUserModule(file).then(({ value }) => value).catch(String)));
`;

for (const [title, files, main, value] of CASES)
  test(`a user project may use: ${title}`, () =>
    withProject(files, async (dir) => {
      const exported = await importUserModule(join(dir, main));
      assert.ok('value' in exported);
      if (value !== undefined) assert.deepEqual(await exported['value'], value);
    }));

test('a user project may use the same when the program is built', () =>
  withTempDir(async (dir) => {
    const { build } = await import('esbuild');
    // Imports of the build find the packages from this folder.
    const outdir = join(PACKAGES, `.cache/hooks-${process.pid}`);
    const src = fileURLToPath(new URL('../../../src/', import.meta.url));
    const entryPoints = ['graphs/user-modules.ts', 'auth/auth.ts'].map((name) => join(src, name));
    try {
      const options = {
        bundle: true,
        splitting: true,
        packages: 'external',
        format: 'esm',
        platform: 'node',
      } as const;
      await build({ ...options, entryPoints, outbase: src, outdir });
      const mains: string[] = [];
      for (const [index, [, files, main]] of CASES.entries()) {
        await writeFiles(join(dir, `${index}`), files);
        mains.push(join(dir, `${index}`, main));
      }
      const args = ['--input-type=module', '-e', BUILT, join(outdir, 'graphs/user-modules.js'), ...mains];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const found = stdout.trim().split('\n');
      for (const [index, [title, , , value]] of CASES.entries())
        if (value !== undefined) assert.equal(found[index], JSON.stringify(value), title);
    } finally {
      await rm(outdir, { recursive: true, force: true });
    }
  }));

test('a CommonJS file with imports sees defaults, namespaces and exports that come later', () =>
  withProject(CASES.find(([title]) => title.startsWith('a CommonJS package'))![1], async (dir) => {
    const { value } = await importUserModule(join(dir, 'main.ts'));
    const [A, b, keys, ...rest] = value as [{ is: string }, () => number, ...unknown[]];
    assert.equal(A.is, 'A');
    assert.equal(b(), 2);
    assert.deepEqual(keys, ['b', 'default']);
    assert.deepEqual(rest, [3, 3, 'function', 'object', true]);
  }));

test('the default export of a CommonJS file is what it says, not the module', () =>
  withProject(
    { 'package.json': COMMON, 'main.ts': `export default 'main';`, 'plain.js': `module.exports = { a: 1 };` },
    async (dir) => {
      assert.equal((await importUserModule(join(dir, 'main.ts')))['default'], 'main');
      assert.deepEqual((await importUserModule(join(dir, 'plain.js')))['default'], { a: 1 });
    },
  ));

test('TypeScript of a linked workspace package is loaded from its real place, once', () =>
  withProject(
    {
      'packages/shared/package.json': '{"name":"shared","type":"module","exports":"./src/index.ts"}',
      'packages/shared/tsconfig.json': tsconfig({ paths: { '~/*': ['./src/*'] } }),
      'packages/shared/src/index.ts': `export { One } from '~/one';`,
      'packages/shared/src/one.ts': `export enum One { A }`,
      'apps/agent/node_modules/.keep': '',
      'apps/agent/package.json': MODULE,
      'apps/agent/main.ts': `import { One } from 'shared'; import { One as direct } from '../../packages/shared/src/one.js';
        import { One as linked } from './node_modules/shared/src/one'; export const value = One === direct && One === linked;`,
    },
    async (dir) => {
      await symlink(join(dir, 'packages/shared'), join(dir, 'apps/agent/node_modules/shared'));
      assert.equal((await importUserModule(join(dir, 'apps/agent/main.ts')))['value'], true);
    },
  ));

test('modules of a package import each other as Node resolves them', () =>
  withProject(
    {
      'main.mjs': `export { value } from 'lib'; export const missing = import('lib/missing').catch(String);`,
      'node_modules/lib/package.json':
        '{"type":"module","exports":{".":"./dist/index.js","./missing":"./dist/missing.js"}}',
      'node_modules/lib/dist/index.js': `import { real } from './parts/real.js'; import { real as linked } from './link.js';
        import old from '../old/old.js'; import { named } from '../old/named.mjs'; import dotted from './a.b.cjs';
        import { spaced } from './parts/a%20b.js'; import { real as other } from './parts/real.js?other';
        export const value = [real === linked, old, named, dotted, spaced, real === other];`,
      'node_modules/lib/dist/missing.js': `import './parts/gone.js';`,
      'node_modules/lib/dist/a.b.cjs': `module.exports = typeof require('./parts/real.js').real;`,
      'node_modules/lib/dist/parts/real.js': `export const real = {};`,
      'node_modules/lib/dist/parts/a b.js': `export const spaced = 'spaced';`,
      'node_modules/lib/old/package.json': '{}',
      'node_modules/lib/old/old.js': `module.exports = typeof require;`,
      'node_modules/lib/old/named.mjs': `export const named = import.meta.url.startsWith('file:');`,
    },
    async (dir) => {
      await symlink(
        join(dir, 'node_modules/lib/dist/parts/real.js'),
        join(dir, 'node_modules/lib/dist/link.js'),
      );
      const { value, missing } = await importUserModule(join(dir, 'main.mjs'));
      assert.deepEqual(value, [true, 'function', true, 'object', 'spaced', false]);
      assert.match(String(await missing), /Cannot find module .*gone\.js' imported from .*missing\.js/);
    },
  ));

test('the package of this program is the instance that the program uses, from every kind of file', () =>
  withProject(
    {
      'node_modules/rewound/package.json': '{"exports":{".":"./no.js","./auth":"./no.js"}}',
      'node_modules/rewound/no.js': `exports.Auth = 'installed';`,
      'a.ts': `export { Auth } from 'rewound/auth';`,
      'b.mjs': `export { Auth } from 'rewound';`,
      'c.cjs': `exports.Auth = require('rewound/auth').Auth;`,
      'wrong.mjs': `import 'rewound/nothing';`,
      'd/package.json': COMMON,
      'd/d.ts': `export { Auth } from 'rewound';`,
    },
    async (dir) => {
      for (const file of ['a.ts', 'b.mjs', 'c.cjs', 'd/d.ts'])
        assert.equal((await importUserModule(join(dir, file)))['Auth'], Auth, file);
      await assert.rejects(
        importUserModule(join(dir, 'wrong.mjs')),
        /'\.\/nothing' is not defined by "exports"/,
      );
    },
  ));

test('a specifier is imported as the named file would, also through paths and from CommonJS', () =>
  withProject(
    {
      'tsconfig.json': tsconfig({ paths: { '#x': ['./x.ts'] } }),
      'x.ts': `export const x = {};`,
      'main.ts': `export { x } from '#x';`,
      'common.cts': `export { x } from '#x';`,
    },
    async (dir) => {
      const { x } = await importUserModule(join(dir, 'main.ts'));
      assert.equal((await importFrom(join(dir, 'main.ts'), '#x'))['x'], x);
      assert.equal((await importUserModule(join(dir, 'common.cts')))['x'], x);
      await assert.rejects(importFrom(join(dir, 'main.ts'), '#y'));
    },
  ));

test.run();
