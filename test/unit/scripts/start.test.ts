import * as assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild } from '../../../scripts/run-child.ts';
import { ownExports } from '../../../src/graphs/modules/hooks.ts';
import { VERSION } from '../../../src/kernel/product.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('start');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const USAGE = /^Usage: rewound /m;

/** A copy of the program whose packages are those of this one. */
async function withCopy(use: (dir: string) => Promise<void>): Promise<void> {
  await withTempDir(async (dir) => {
    for (const name of [
      'src',
      'scripts/bin',
      'scripts/start.mjs',
      'scripts/build.mjs',
      'scripts/build-studio.mjs',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(ROOT, name), join(dir, name), { recursive: true });
    mkdirSync(join(dir, 'node_modules'));
    for (const name of readdirSync(join(ROOT, 'node_modules')))
      if (!name.startsWith('.'))
        symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
    await use(dir);
  });
}

const start = (dir: string, ...args: string[]) =>
  runChild(process.execPath, [join(dir, 'scripts/start.mjs'), ...args], {
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  });

test('given sources, when the program starts, then it is built once, and again after a change', () =>
  withCopy(async (dir) => {
    const builds = join(dir, 'node_modules/.cache/rewound');
    for (let i = 0; i < 2; i++) assert.match((await start(dir)).output, USAGE);
    const first = readdirSync(builds);
    assert.equal(first.length, 1);
    // Whatever is started or imported by its address lies where it is looked for.
    const addressed = readdirSync(join(dir, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [
        ...readFileSync(join(dir, 'src', name), 'utf8').matchAll(
          /\b(?:ownModule|startWorker|startProcess)\(\s*'([^']+)'/g,
        ),
      ])
      .map(([, path]) => path!);
    assert.ok(addressed.length >= 5, `${addressed}`);
    for (const path of addressed) assert.ok(existsSync(join(builds, first[0]!, `${path}.js`)), path);

    utimesSync(join(dir, 'src/main.ts'), 1, 1);
    assert.equal((await start(dir, '--build')).output, '');
    assert.equal(readdirSync(builds).length, 2);
  }));

/** Runs the entry of a copy as Node 20 would. */
const startOnOlder = (dir: string, entry: string, ...args: string[]) => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;
  const preload = `data:text/javascript,${encodeURIComponent(older)}`;
  return runChild(process.execPath, ['--import', preload, join(dir, entry), ...args], {
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  });
};

for (const entry of ['scripts/start.mjs', 'scripts/bin/rewound.mjs'])
  test(`an older Node gets one line from ${entry} that says what is needed, and exit code 2`, () =>
    withTempDir(async (dir) => {
      cpSync(join(ROOT, 'scripts'), join(dir, 'scripts'), { recursive: true });
      const { code, output } = await startOnOlder(dir, entry, 'serve');
      assert.equal(code, 2);
      assert.match(
        output,
        /^Node\.js: found 20\.19\.0 \(.*\), expected 24 or later; install it .* "npm install node-[\w-]+@24"\n$/,
      );
    }));

test('on an older Node the command runs on the one that npm installed beside the program', () =>
  withCopy(async (dir) => {
    mkdirSync(join(dir, 'node_modules/.bin'));
    symlinkSync(process.execPath, join(dir, 'node_modules/.bin/node'));
    const shown = await startOnOlder(dir, 'scripts/start.mjs', '--help');
    assert.equal(shown.code, 0);
    assert.match(shown.output, USAGE);
    const refused = await startOnOlder(dir, 'scripts/start.mjs', 'serve', '--port', 'x');
    assert.equal(refused.code, 2);
    assert.match(refused.output, /--port/);
  }));

test('given a place where nothing can be written, when the program starts, then it runs from its sources', () =>
  withCopy(async (dir) => {
    await rm(join(dir, 'node_modules/.cache'), { recursive: true, force: true });
    await writeFile(join(dir, 'node_modules/.cache'), 'no folder');
    const { output } = await start(dir);
    assert.match(output, /runs from its sources: nothing can be written to .* \(ENOTDIR\)/);
    assert.match(output, USAGE);
  }));

test('given what package.json exports to projects, then the loader knows each, and the version', () => {
  const { name, version, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    exports: Record<string, string>;
  };
  const expected = Object.entries(exports).map(([path, file]) => [
    name + path.slice(1),
    new URL(file, `file://${ROOT}`).href,
  ]);
  assert.deepEqual([...ownExports], expected);
  assert.equal(version, VERSION);
});

test.run();
