/** The first steps of a newcomer with the published package, and the older versions of Node.js that they may have. */
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PRODUCT, VERSION } from '../../src/kernel/product.ts';
import { withGroup } from '../e2e/process-group.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';

const test = suite('first steps');
const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PACKAGE = join(ROOT, 'dist', `${PRODUCT}-${VERSION}.tgz`);

/** The environment of a machine whose Node.js lies in this folder. */
const withNode = (folder: string) => ({ ...process.env, PATH: `${folder}:${process.env['PATH']}` });
const env = withNode(dirname(process.execPath));
const install = (cwd: string, ...packages: string[]) =>
  run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd, env });

/** Installs the package that was just made into an empty folder. */
async function withInstalled(use: (dir: string) => Promise<void>): Promise<void> {
  await run(process.execPath, [join(ROOT, 'scripts/pack.mjs')], { cwd: ROOT, env });
  await withTempDir(async (dir) => {
    writeFileSync(join(dir, 'package.json'), '{}');
    await install(dir, PACKAGE);
    await use(dir);
  });
}

test('a project that the installed package made installs, is served by its script and answers', () =>
  withInstalled(async (dir) => {
    await run('npx', [PRODUCT, 'init', 'my-agent'], { cwd: dir, env });
    const cwd = join(dir, 'my-agent');
    await install(cwd);
    await withGroup(['npm', 'run', 'dev', '--', '--port', '0'], { cwd, env }, async ({ printed, end }) => {
      const [, url] = await printed(/^Serving on\s+(\S+)$/m);
      const response = await fetch(`${url}/runs/wait`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          assistant_id: 'agent',
          input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] },
        }),
      });
      const { messages } = (await response.json()) as { messages: { content: string }[] };
      assert.match(messages.at(-1)!.content, /Oslo/);
      await end();
    });
  }));

test('on Node 18 and 22 the command says in a line what it needs, and runs once that is beside it', () =>
  withInstalled(async (dir) => {
    const start = (node: string) =>
      run(join(node, 'node'), [join(dir, `node_modules/${PRODUCT}/bin/${PRODUCT}.mjs`), '--version'], {
        env: withNode(node),
      }).then(
        ({ stdout }) => ({ code: 0, output: stdout }),
        ({ code, stderr }: { code: number; stderr: string }) => ({ code, output: stderr }),
      );
    const platform = `${process.platform}-${process.arch}`;
    const nodes: string[] = [];
    for (const major of [18, 22]) {
      const folder = join(dir, `older-${major}`);
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), '{}');
      await install(folder, `node-${platform}@${major}`);
      nodes.push(join(folder, `node_modules/node-${platform}/bin`));
    }
    // Given nothing but the older version.
    let remedy = '';
    for (const node of nodes) {
      const { code, output } = await start(node);
      assert.equal(code, 2);
      const said = /^Node\.js: found (?:18|22)\.\S+ .*, expected 24 or later; .*"npm install (\S+)"\n$/;
      remedy = said.exec(output)?.[1] ?? assert.fail(output);
    }
    // When what the line names is installed.
    await install(dir, remedy);
    // Then the command runs on it.
    for (const node of nodes) assert.deepEqual(await start(node), { code: 0, output: `${VERSION}\n` });
  }));

test.run();
