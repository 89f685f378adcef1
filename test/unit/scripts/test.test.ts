import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('scripts/test');

const RUNNER = fileURLToPath(new URL('../../../scripts/test.ts', import.meta.url));
const totals = (total: number, passed: number, skipped = 0): string =>
  `console.log('\\n  Total:     ${total}\\n  Passed:    ${passed}\\n  Skipped:   ${skipped}\\n');`;

/** Runs the stages over a tree of test files. */
function run(files: Record<string, string>, stages: string[], timeoutMs = 20_000) {
  return withTempDir(async (cwd) => {
    for (const [name, source] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, name)), { recursive: true });
      await writeFile(join(cwd, name), source);
    }
    const env = { ...process.env, TEST_FILE_TIMEOUT_MS: String(timeoutMs), TEST_LANES: '2' };
    const args = [RUNNER, ...stages];
    const runner = spawn(process.execPath, args, { cwd, env });
    const [output, [code]] = await Promise.all([text(runner.stdout), once(runner, 'close')]);
    return { code: code as number, output, lastLine: output.trimEnd().split('\n').at(-1) };
  });
}

/**
 * Starts a process that would live for a minute and holds the output pipes of its parent open: the runner, which
 * reads them to the end, can only finish within the limit of a test when it ended that process.
 */
const LEAVE_A_CHILD = `
  import { spawn } from 'node:child_process';
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 3_600_000)'], { stdio: 'inherit' }).unref();`;

test('counts of stages add up, and only failures show their output', async () => {
  const { code, output, lastLine } = await run(
    {
      'test/unit/a.test.ts': `console.log('quiet'); ${totals(3, 3)}`,
      'test/unit/deep/b.test.ts': `console.log('loud'); ${totals(4, 3)} process.exitCode = 1;`,
      'test/model/c.test.ts': totals(2, 2),
      'test/e2e/d.test.ts': totals(7, 7),
      'test/unit/support.ts': totals(9, 0),
    },
    ['model', 'unit'],
  );
  assert.is(lastLine, '8 passed, 1 failed');
  assert.is(code, 1);
  assert.match(
    output,
    /ok {3}test\/unit\/a\.test\.ts: 3 passed, 0 failed, \d+ ms, \d+ ms of processor time\n/,
  );
  assert.match(output, /FAIL test\/unit\/deep\/b\.test\.ts: 3 passed, 1 failed/);
  assert.match(output, 'loud');
  assert.not.match(output, 'quiet');
  assert.ok(output.indexOf('test/model') > output.indexOf('test/unit'), 'stages run in their own order');
});

test('given only passing files, when they run, then the runner succeeds', async () => {
  const { code, lastLine } = await run({ 'test/unit/a.test.ts': totals(3, 3) }, ['unit']);
  assert.is(lastLine, '3 passed, 0 failed');
  assert.is(code, 0);
});

test('files that are silent, skip, crash late or find no test are failures', async () => {
  const { code, lastLine, output } = await run(
    {
      'test/unit/silent.test.ts': '',
      'test/unit/skips.test.ts': totals(2, 2, 1),
      'test/unit/crash.test.ts': `${totals(2, 2)} throw new Error('late');`,
      'test/unit/none.test.ts': totals(0, 0),
    },
    ['unit'],
  );
  assert.is(lastLine, '4 passed, 4 failed', output);
  assert.is(code, 1);
});

test('tests skipped for what the machine lacks print the reason and do not fail', async () => {
  const reason = `console.log('skipped "t": no such tool');`;
  const { code, lastLine, output } = await run(
    {
      'test/unit/one.test.ts': `${reason} ${totals(2, 2, 1)}`,
      'test/unit/all.test.ts': `${reason} ${totals(0, 0, 1)}`,
    },
    ['unit'],
  );
  assert.is(lastLine, '2 passed, 0 failed', output);
  assert.is(code, 0);
  assert.is(output.split('skipped "t": no such tool\n').length, 3, output);
  assert.match(output, '2 skipped, ');
});

test('a hanging and a crashing file are judged alone, and files behind them run', async () => {
  const own = `console.log('pid ' + process.pid);`;
  const many = Array.from({ length: 24 }, (_, i): [string, string] => {
    const wrong =
      i === 3
        ? 'process.exit(3);'
        : i === 9
          ? 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);'
          : '';
    return [
      `test/unit/${String(i).padStart(2, '0')}.test.ts`,
      `${totals(1, i === 20 ? 0 : 1)} ${own} ${wrong}`,
    ];
  });
  const { lastLine, output } = await run(Object.fromEntries(many), ['unit'], 2_000);
  const failed = [...output.matchAll(/^FAIL test\/unit\/(\d+)\.test\.ts: (\d) passed, (\d) failed/gm)];
  assert.equal(failed.map(([, file]) => file).sort(), ['03', '09', '20'], output);
  assert.is(lastLine, '23 passed, 3 failed', output);
  assert.is(output.match(/^ok {3}test/gm)?.length, 21);
});

test('given files that share a process, when one of them fails, then the process is not counted as well', async () => {
  const uvu = import.meta.resolve('uvu');
  const of = (title: string, body: string) =>
    `import { suite } from '${uvu}'; const test = suite('${title}'); test('t', () => { ${body} }); test.run();`;
  const files = Array.from({ length: 16 }, (_, i): [string, string] => [
    `test/unit/${String(i).padStart(2, '0')}.test.ts`,
    of(`s${i}`, i === 6 ? `throw new Error('six');` : ''),
  ]);
  const { lastLine, output } = await run(Object.fromEntries(files), ['unit']);
  assert.is(lastLine, '15 passed, 1 failed', output);
  assert.match(output, 'six');
});

test('a failed test is told before its file ends, with the file, the suite and the title', async () => {
  const url = new URL('../../support/suite.ts', import.meta.url).href;
  const { output } = await run(
    {
      'test/unit/a.test.ts': `import { suite } from '${url}'; const test = suite('s');
        test('breaks', () => { throw new Error('seven'); });
        test('waits', () => console.log('the file goes on')); test.run();`,
    },
    ['unit'],
  );
  assert.match(
    output,
    /^failed test\/unit\/a\.test\.ts: s: breaks\n(.*\n)*FAIL test\/unit\/a\.test\.ts: 1 passed, 1 failed/m,
  );
});

test('single files run by their names, and the help says how, with a seed as well', async () => {
  const files = { 'test/unit/a.test.ts': totals(1, 1), 'test/unit/b.test.ts': totals(2, 2) };
  const one = await run(files, ['test/unit/b.test.ts']);
  assert.equal([one.lastLine, one.code], ['2 passed, 0 failed', 0], one.output);
  const missing = await run(files, ['test/unit/c.test.ts']);
  assert.equal([missing.lastLine, missing.code], ['0 passed, 0 failed', 1], missing.output);
  const help = await run(files, ['--help']);
  assert.is(help.code, 0);
  assert.match(help.output, 'SEED=N npm test -- FILE');
});

test('given long tests, when no stage is named, then they do not run; named, they do', async () => {
  const files = { 'test/unit/a.test.ts': totals(1, 1), 'test/long/b.test.ts': totals(2, 2) };
  const usual = await run(files, []);
  assert.match(usual.output, 'test/unit/a.test.ts');
  assert.not.match(usual.output, 'test/long/b.test.ts');
  const long = await run(files, ['long']);
  assert.is(long.lastLine, '2 passed, 0 failed', long.output);
});

test('given no test at all or an unknown stage, when the runner ends, then it fails', async () => {
  const none = await run({}, ['unit']);
  assert.equal([none.lastLine, none.code], ['0 passed, 0 failed', 1]);
  const unknown = await run({ 'test/unit/a.test.ts': totals(1, 1) }, ['unit', 'uint']);
  assert.equal([unknown.lastLine, unknown.code], ['0 passed, 0 failed', 1]);
  assert.match(unknown.output, 'unknown stage uint');
});

test('given a file that hangs with a process of its own, when its time is over, then both are killed', async () => {
  const { lastLine, output } = await run(
    {
      'test/unit/a.test.ts': `${LEAVE_A_CHILD} ${totals(1, 1)} setTimeout(() => {}, 3_600_000);`,
      'test/unit/b.test.ts': totals(1, 1),
    },
    ['unit'],
    // Beyond what the other file's process takes to start, on a loaded machine as well.
    5_000,
  );
  assert.is(lastLine, '2 passed, 1 failed', output);
  assert.match(output, /killed after \d+ ms/);
});

test('a process that a file leaves behind is killed without a wait', async () => {
  const { lastLine } = await run({ 'test/unit/a.test.ts': LEAVE_A_CHILD + totals(1, 1) }, ['unit']);
  assert.is(lastLine, '1 passed, 0 failed');
});

test('an interrupted run ends its children, starts nothing new and fails', async () => {
  const { code, lastLine } = await run(
    {
      'test/unit/a.test.ts': `${LEAVE_A_CHILD} process.kill(process.ppid, 'SIGINT'); setTimeout(() => {}, 3_600_000);`,
      'test/unit/b.test.ts': `${totals(1, 1)} setTimeout(() => {}, 3_600_000);`,
      'test/unit/c.test.ts': totals(50, 50),
      'test/model/d.test.ts': totals(50, 50),
    },
    ['unit', 'model'],
    240_000,
  );
  assert.is(code, 1);
  assert.match(lastLine ?? '', /^[01] passed, 2 failed$/);
});

test('a check whose tool is missing counts as one failure', async () => {
  const { lastLine, output } = await run({}, ['format']);
  assert.is(lastLine, '0 passed, 1 failed');
  assert.match(output, 'prettier: spawn');
});

test.run();
