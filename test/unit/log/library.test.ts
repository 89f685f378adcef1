import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from '../../support/suite.ts';

const test = suite('log/sqlite, library');

const LIBRARY = fileURLToPath(new URL('../../../src/log/sqlite/library.ts', import.meta.url));
// Not by `gc()`: it is the collection that an allocation begins that ends the process.
const DROPS_STATEMENTS = `
  import { setImmediate } from 'node:timers/promises';
  const { Database } = await import(${JSON.stringify(LIBRARY)});
  let kept = [];
  for (let round = 0; round < 20; round++) {
    const db = new Database(':memory:');
    for (let i = 0; i < 20; i++) for (const _ of db.prepare('SELECT 1').iterate());
    if (round % 2 === 0) db.close();
    for (let i = 0; i < 300_000; i++) kept.push({ i });
    if (round % 5 === 0) kept = [];
    await setImmediate();
  }
  console.log('alive');`;

test('given the package for this version of Node, when databases and statements are collected, then the process lives', async () => {
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', DROPS_STATEMENTS];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.equal(stdout, 'alive\n');
});

test('given an install that left the package out, when it is needed, then it is said what to do', async () => {
  const withoutIt = `
    import { Module } from 'node:module';
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...more) => resolve(name.startsWith('better-sqlite3') ? './none' : name, ...more);
    await import(${JSON.stringify(LIBRARY)}).catch(({ message }) => console.log(message));`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', withoutIt];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  assert.match(stdout, /^SQLite cannot be loaded on Node v\d+.*Cannot find module.*--foreground-scripts/);
});

test.run();
