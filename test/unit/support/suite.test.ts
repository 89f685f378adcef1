import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runChild, type ChildResult } from '../../../scripts/run-child.ts';
import { TIME_SCALE } from '../../../scripts/time-scale.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

/** Runs a test file whose suite has a limit of 50 ms per test; `body` sees `test`. */
function runSuite(body: string): Promise<ChildResult> {
  return withTempDir(async (dir) => {
    const file = join(dir, 'fixture.test.mjs');
    const url = new URL('../../support/suite.ts', import.meta.url).href;
    await writeFile(
      file,
      `import { suite } from '${url}';\nconst test = suite('fixture', { timeoutMs: 50 });\n${body}`,
    );
    return runChild(process.execPath, [file], {
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      env: { [TIME_SCALE]: '1' },
    });
  });
}

const BROKEN: Record<string, [body: string, said: RegExp]> = {
  'a before hook that throws': [
    `test.before(() => { throw new Error('boom'); }); test('t', () => {}); test.run();`,
    /hook before threw.*boom/,
  ],
  'an after hook that rejects': [
    `test.after(async () => { throw null; }); test('t', () => {}); test.run();`,
    /hook after threw null/,
  ],
  'a before.each hook that throws null': [
    `test.before.each(() => { throw null; }); test('t', () => {}); test.run();`,
    /hook before\.each threw null/,
  ],
  'an after.each hook that throws a string': [
    `test.after.each(() => { throw 'boom'; }); test('t', () => {}); test.run();`,
    /hook after\.each threw boom/,
  ],
  'a test that throws null': [`test('t', () => { throw null; }); test.run();`, /threw null/],
  'a test that rejects with a string': [
    `test('t', async () => { throw 'boom'; }); test.run();`,
    /threw 'boom'/,
  ],
  'an error that uvu cannot print': [
    `test('t', () => { throw Object.assign(new Error('boom'), { details: 1n }); }); test.run();`,
    /FAIL[^]*boom/,
  ],
  'a test that hangs with nothing left to do': [
    `test('t', () => new Promise(() => {})); test.run();`,
    /"t" took longer than 50 ms/,
  ],
  'a test slower than a limit of its own': [
    `test('t', () => new Promise(() => {}), 10); test.run();`,
    /"t" took longer than 10 ms/,
  ],
  'a suite that nobody runs': [`test('t', () => {});`, /1 test\(s\) did not pass or never ran/],
  'a test that ends the process': [
    `test('t', () => process.exit(0)); test.run();`,
    /1 test\(s\) did not pass or never ran/,
  ],
  'an only that leaves others out': [
    `test('t', () => {}); test.only('u', () => {}); test.run();`,
    /1 test\(s\)/,
  ],
};

const test = suite('support/suite');

for (const [what, [body, said]] of Object.entries(BROKEN))
  test(`given ${what}, the test process fails and says why`, async () => {
    const { code, timedOut, output } = await runSuite(body);
    assert.is(timedOut, false, output);
    assert.is(code, 1, output);
    assert.match(output, said);
  });

test('given tests and hooks that pass, the process succeeds and each ran in its order', async () => {
  const { code, output } = await runSuite(`
    const order = [];
    test.before((context) => { context.shared = 1; order.push('before'); });
    test.before.each(() => { order.push('each'); });
    test.after.each(() => { order.push('/each'); });
    test.after(() => { order.push('after'); console.log(order.join(' ')); });
    test('t', (context) => { order.push('t' + context.shared); });
    test('slow but allowed', async () => { await new Promise((done) => setTimeout(done, 80)); order.push('u'); }, 10000);
    test.run();`);
  assert.is(code, 0, output);
  assert.match(output, 'before each t1 /each each u /each after');
  assert.match(output, /Total: +2\n +Passed: +2/);
});

test('given tests that fail and hang, the tests after them still run', async () => {
  const { output } = await runSuite(`
    test('t', () => { throw null; });
    test('u', () => new Promise(() => {}));
    test('v', () => {});
    test.run();`);
  assert.match(output, /Total: +3\n +Passed: +1/);
});

test.run();
