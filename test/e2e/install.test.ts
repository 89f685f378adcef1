/**
 * The package as its users get it. After a change of dependencies the lock file of `install/` is renewed with
 * `npm run pack && cd test/e2e/install && npm install --package-lock-only ../../../dist/*.tgz`.
 */
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PRODUCT, VERSION } from '../../src/kernel/product.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withGroup } from './process-group.ts';
import { assertStudio } from './studio-files.ts';

const test = suite('install');
const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = join(ROOT, 'dist', `${PRODUCT}-${VERSION}.tgz`);
const INSTALL = join(ROOT, 'test/e2e/install');
const MAX_PACKAGE_BYTES = 2 * 2 ** 20;

/** The Node of this test comes first, as on a machine that has it. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly [key: string]: unknown;
}
interface Lock {
  readonly packages: Record<string, Manifest>;
}
const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;

const GRAPH = `interface State { readonly name: string }
enum Greeting { Hello = 'Hello' }
export const graph = (state: State): { answer: string } => ({ answer: \`\${Greeting.Hello}, \${state.name}\` });
`;

/** Copies manifest and lock file with the place of the package that was just made, and installs them. */
async function install(dir: string, lock: Lock): Promise<void> {
  const manifest = await readJson<Manifest>(join(INSTALL, 'package.json'));
  // Every build has another hash.
  const { integrity: _, ...entry } = lock.packages[`node_modules/${PRODUCT}`]!;
  const packages = { ...lock.packages, [`node_modules/${PRODUCT}`]: entry };
  for (const [name, content] of Object.entries({
    'package.json': manifest,
    'package-lock.json': { ...lock, packages },
  })) {
    const text = JSON.stringify(content).replaceAll(/"file:[^"]*\.tgz"/g, JSON.stringify(`file:${PACKAGE}`));
    await writeFile(join(dir, name), text);
  }
  const ci = (...more: string[]) =>
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', ...more], { cwd: dir, env });
  await ci('--offline').catch(() => ci());
}

/** Asks the server that a command starts for one run. */
async function askWith(command: readonly string[], cwd: string): Promise<{ answer: unknown; ms: number }> {
  const start = performance.now();
  return withGroup([...command, '--port', '0'], { cwd, env }, async ({ printed, end }) => {
    const [, url = ''] = await printed(/^Serving on\s+(\S+)$/m);
    await assertStudio(url);
    const response = await fetch(`${url}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'greeter', input: { name: 'Ann' } }),
    });
    const answer = ((await response.json()) as { answer?: unknown }).answer;
    const ms = performance.now() - start;
    await end();
    return { answer, ms };
  });
}

/** The README's example as a file of a project that has a function of its own to look up users. */
async function authExample(): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const example = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)]
    .map(([, code]) => code!)
    .find((code) => code.includes(`from '${PRODUCT}/auth'`));
  assert.ok(example, 'README.md: expected an example that imports from rewound/auth');
  return `declare function lookUp(header: string | null): { id: string; token: string } | undefined;\n${example}`;
}

test('the package installs into an empty folder, serves a TypeScript project and has its types', () =>
  withTempDir(async (dir) => {
    await run(process.execPath, [join(ROOT, 'scripts/pack.mjs')], { cwd: ROOT, env });
    assert.ok((await readFile(PACKAGE)).length < MAX_PACKAGE_BYTES);

    const begun = performance.now();
    const lock = await readJson<Lock>(join(INSTALL, 'package-lock.json'));
    await install(dir, lock);
    console.log(`installed in ${Math.round(performance.now() - begun)} ms`);
    const manifest = await readJson<Manifest>(join(dir, 'node_modules', PRODUCT, 'package.json'));
    assert.deepEqual(
      lock.packages[`node_modules/${PRODUCT}`]!.dependencies,
      manifest.dependencies,
      'test/e2e/install/package-lock.json is older than package.json; see the top of this file',
    );
    // The schema that "$schema" of a new project names.
    const schema = await readJson<object>(
      join(dir, 'node_modules', PRODUCT, 'src/config/platform.schema.json'),
    );
    assert.ok('properties' in schema);
    for (const absent of ['devDependencies', 'optionalDependencies', 'scripts'])
      assert.equal(manifest[absent], undefined, absent);

    await writeFile(join(dir, 'platform.json'), '{ "graphs": { "greeter": "./greeter.ts:graph" } }');
    await writeFile(join(dir, 'greeter.ts'), GRAPH);
    for (const command of ['serve', 'dev']) {
      const { answer, ms } = await askWith(['npx', PRODUCT, command], dir);
      assert.equal(answer, 'Hello, Ann', command);
      console.log(`npx ${PRODUCT} ${command}: first answer after ${Math.round(ms)} ms`);
    }

    await writeFile(join(dir, 'auth.ts'), await authExample());
    const types = [...['--noEmit', '--strict', '--module', 'nodenext', '--types', ''], 'auth.ts'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { code, stdout } = await run(tsc, types, { cwd: dir, env }).then(
      (done) => ({ code: 0, ...done }),
      (error: { code: number; stdout: string }) => error,
    );
    assert.deepEqual([code, stdout], [0, '']);
  }));

test.run();
