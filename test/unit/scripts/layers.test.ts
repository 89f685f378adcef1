import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { checkLayers } from '../../../scripts/layers.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('scripts/layers');

/** Checks a tree of the given files; places without a folder of the repository lie in `src`. */
function check(files: Record<string, string>) {
  return withTempDir(async (root) => {
    for (const folder of ['src', 'scripts', 'test']) await mkdir(join(root, folder));
    for (const [place, text] of Object.entries(files)) {
      const file = join(root, /^(test|scripts)\//.test(place) ? place : `src/${place}`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return checkLayers(root);
  });
}

async function allowed(files: Record<string, string>): Promise<void> {
  for (const [place, text] of Object.entries(files))
    assert.equal((await check({ [place]: text })).breaches, [], `${place}: ${text}`);
}

async function refused(files: Record<string, string>, saying: RegExp): Promise<void> {
  for (const [place, text] of Object.entries(files)) {
    const { breaches } = await check({ [place]: text });
    assert.is(breaches.length, 1, `${place}: ${text} gave ${JSON.stringify(breaches)}`);
    assert.match(breaches[0]!, saying);
  }
}

test('given a tree that keeps the rules, when it is checked, then files and arrows are counted', async () => {
  const result = await check({
    'kernel/clock.ts': 'export const now = () => Date.now();',
    'thread/state.ts': `import type { now } from '../kernel/clock.ts';\nexport const a = 1;`,
    'store/port/log.ts': `export { a } from '../../thread/state.ts';\nimport 'node:fs';`,
    'test/unit/a.test.ts': `import '../../src/store/port/log.ts';`,
  });
  assert.equal(result, { breaches: [], files: 4, arrows: 2 });
});

test('given an arrow that is not in the table, when it is checked, then file, line and arrow are named', async () => {
  const { breaches } = await check({ 'kernel/a.ts': `// why\n\nimport type { B } from '../thread/b.ts';` });
  assert.equal(breaches, ['src/kernel/a.ts:3 may not import ../thread/b.ts (kernel -> thread/b.ts)']);
});

test('given arrows that point up or aside, when they are checked, then each is refused in every form', async () => {
  await refused(
    {
      'thread/a.ts': `import '../assistant/b.ts';`,
      'delivery/a.ts': `export * from '../thread/b.ts';`,
      'store/port/a.ts': `import type { B } from '../sql/b.ts';`,
      'store/sql/a.ts': `type B = import('../../actors/b.ts').B;`,
      'actors/a.ts': `await import('../effects/b.ts');`,
      'effects/a.ts': `import '../graphs/pool.ts';`,
      'graphs/a.ts': `import '../store/port/b.ts';`,
      'streams/a.ts': `import '../thread/b.ts';`,
      'auth/a.ts': `import '../config/b.ts';`,
      'config/a.ts': `import '../auth/b.ts';`,
      'http/a.ts': `import '../effects/b.ts';`,
      'http/b/c.ts': `import '../../serve.ts';`,
      'kernel/a.ts': `import 'rewound/auth';`,
      'examples/a.ts': `import '../auth/auth.ts';`,
      'main.ts': `import '../test/support/suite.ts';`,
    },
    /:1 may not import/,
  );
});

test('R1 given the past, when it imports what can start an effect, then that is refused', async () => {
  for (const layer of ['effects', 'http', 'workers', 'actors', 'streams', 'auth', 'config']) {
    await refused({ 'past/tell/a.ts': `import '../../${layer}/b.ts';` }, /past -> /);
    await refused({ 'past/reexecution/a.ts': `import '../../${layer}/b.ts';` }, /past\/reexecution -> /);
  }
  for (const target of ['graphs/b.ts', 'recording/b.ts', 'past/reexecution/b.ts'])
    await refused({ 'past/tell/a.ts': `import '../../${target}';` }, /past -> /);
});

test('given arrows that the design allows, when they are checked, then none is refused', async () => {
  await allowed({
    'effects/a.ts': `import '../graphs/port.ts';\nimport '../actors/b.ts';\nimport './c.ts';`,
    'http/a.ts': `import '../graphs/port.ts';\nimport '../auth/b.ts';\nimport '../../package.json';`,
    'past/tell/a.ts': `import '../../store/port/views/b.ts';\nimport '../c.ts';`,
    'past/reexecution/a.ts': `import '../../graphs/b.ts';\nimport '../c.ts';`,
    'main.ts': `import './serve.ts';\nimport './effects/a.ts';`,
    'examples/a.ts': `import 'rewound/auth';\nimport './b.ts';`,
    'examples/demo.ts': `import '../serve.ts';`,
  });
});

test('given the adapter of an engine, when another file than the one that chooses it imports it, that is refused', async () => {
  const text = `import type { A } from './store/sqlite/a.ts';`;
  for (const layer of ['effects', 'http', 'streams', 'past', 'ws', 'actors'])
    await refused({ [`${layer}/a.ts`]: `import '../store/sql/views/b.ts';` }, / -> store\/sql/);
  await refused(
    { 'serve.ts': text, 'store/sql/a.ts': `import '../sqlite/a.ts';` },
    /only open-store\.ts may/,
  );
  await allowed({ 'open-store.ts': text, 'store/sqlite/b.ts': `import './a.ts';` });
});

test('given a folder that is in no table, when it is checked, then it belongs to no layer', async () => {
  await refused({ 'misc/a.ts': '', 'stray.ts': '' }, /belongs to no layer/);
});

test('given files that import each other, when they are checked, then the cycle is printed once', async () => {
  const { breaches } = await check({
    'kernel/a.ts': `import './b.ts';`,
    'kernel/b.ts': `import './c.ts';\nimport './d.ts';`,
    'kernel/c.ts': `import './d.ts';\nimport type { A } from './a.ts';`,
    'kernel/d.ts': '',
  });
  assert.equal(breaches, [
    'src/kernel/c.ts:2 closes a cycle: kernel/a.ts -> kernel/b.ts -> kernel/c.ts -> kernel/a.ts',
  ]);
  await refused({ 'kernel/a.ts': `import './a.ts';` }, /closes a cycle: kernel\/a\.ts -> kernel\/a\.ts/);
});

test('given packages with one owner, when they are imported elsewhere, then that is refused', async () => {
  await refused(
    {
      'store/port/a.ts': `import Database from 'better-sqlite3';`,
      'store/sqlite/a.ts': `import type { Statement } from 'better-sqlite3';`,
      'http/a.ts': `import 'ws';`,
      'http/b.ts': `import type { Agent } from 'undici';`,
      'thread/a.ts': `import 'xstate';`,
      'http/c.ts': `import 'xstate/graph';`,
      'store/port/b.ts': `import 'nanoid';`,
      'store/port/c.ts': `import 'node:crypto';`,
      'store/port/d.ts': `import 'crypto';`,
      'store/port/e.ts': `import 'node:timers/promises';`,
    },
    /:1 may not import/,
  );
  await allowed({
    'store/sqlite/library.ts': `import 'better-sqlite3';`,
    'effects/a.ts': `import 'undici';`,
    'thread/machine.ts': `import 'xstate';`,
    'actors/a.ts': `import 'xstate';`,
    'kernel/a.ts': `import 'nanoid';\nimport 'node:crypto';`,
    'examples/a.ts': `import 'node:crypto';`,
    'test/a.ts': `import 'better-sqlite3';`,
  });
});

test('given clocks, timers and randomness, when they are used outside the kernel, then that is refused', async () => {
  const uses = `Date.now(); Date.now; new Date(); new Date; new Date( /* now */ ); performance.now(); process.hrtime();
    Math.random(); crypto.randomUUID(); globalThis.crypto.subtle; setTimeout(f); globalThis.setTimeout(f); setInterval(f);
    AbortSignal.timeout(1);`;
  for (const use of uses.split(';').map((text) => text.trim())) {
    if (use === '') continue;
    await refused({ 'http/a.ts': `\n${use};` }, /src\/http\/a\.ts:2 may not use /);
    await allowed({ 'kernel/a.ts': use, 'examples/a.ts': use, 'test/a.ts': use });
  }
  await refused({ 'http/a.ts': 'setImmediate(f);' }, /may not use setImmediate/);
  await allowed({
    'store/port/a.ts': 'setImmediate(f);',
    'http/a.ts': `new Date(0); new Date('x'); new Dated(); socket.setTimeout(1); clearTimeout(t); // Date.now()`,
    'http/b.ts': `const text = 'Math.random() setTimeout(f)'; /Date.now/; my.crypto.key;`,
  });
});

test('given argv and signals, when they are read outside main.ts, then that is refused', async () => {
  await refused(
    {
      'serve.ts': 'process.argv;',
      'http/a.ts': `process.once("SIGTERM", f);`,
      'thread/a.ts': `process.on('SIGINT', f);`,
    },
    /:1 may not use (process\.argv|signal handlers)/,
  );
  await allowed({
    'main.ts': `process.argv; process.on('SIGINT', f);`,
    'examples/demo.ts': `process.on('SIGINT', f);`,
    'serve.ts': `process.on('uncaughtException', f); // process.on('SIGINT', f)`,
  });
});

test('given imports without their extension and barrels, when they are checked, then both are refused', async () => {
  await refused(
    {
      'thread/a.ts': `import './b';`,
      'thread/b.ts': `import './c.js';`,
      'test/a.ts': `import '../src/thread';`,
    },
    /without \.ts/,
  );
  await refused({ 'thread/index.ts': '', 'test/unit/index.ts': '' }, /barrel/);
  await refused({ 'thread/a.js': '' }, /is not TypeScript/);
});

test('given a file of 300 lines, when it is checked, then it passes, and one line more is refused', async () => {
  await allowed({ 'thread/a.ts': 'a;\n'.repeat(300) });
  await refused(
    {
      'thread/a.ts': 'a;\n'.repeat(301),
      'test/a.ts': 'a;\n'.repeat(301),
      'scripts/a.ts': 'a;\n'.repeat(301),
    },
    /:301 is longer than 300 lines/,
  );
});

test.run();
