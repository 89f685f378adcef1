/** From a failure to its mend: reports, calls, what-if, checks and a debugger, with the real program. */
import assert from 'node:assert/strict';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shared } from '../support/shared-server.ts';
import { ADDITIONS } from '../../src/cli/init/additions.ts';
import { suite } from '../support/suite.ts';
import { openInspector } from './inspector.ts';
import { withRecorded, type Scene } from './recorded-scene.ts';

const test = suite('looking back at recorded runs', { timeoutMs: 300_000 });

interface Past extends Scene {
  readonly failed: { readonly thread: string; readonly run: string };
  readonly good: { readonly thread: string; readonly run: string };
  readonly quoted: { readonly thread: string; readonly run: string };
}

const scene = shared<Past>(test, (use) =>
  withRecorded('lookback', async (recorded) => {
    const failed = await recorded.run('desk', { input: { question: 'please fail' } });
    const good = await recorded.run('desk', { input: { question: 'what does it cost' } });
    const quoted = await recorded.run('quote', { input: { question: 'two tons' } });
    await use({ ...recorded, failed, good, quoted });
  }),
);

test('a stranger finds a failure: list, story, report and calls name node, line, input and answers (R4)', async () => {
  const { command, failed, server } = scene();
  const { run, thread } = failed;
  // when
  const [list, story, report, calls] = await Promise.all([
    command(['threads', 'FAIL', '--status', 'error', '--user', 'ada', '--since', '1d', '--json']),
    command(['show', thread.slice(0, 18)]),
    command(['show', run, '--markdown']),
    command(['calls', run]),
  ]);
  const served = await (await server.open('GET', `/threads/${thread}/runs/${run}/report`)).text();
  // then
  assert.deepEqual(
    (JSON.parse(list.output) as any[]).map((each) => [each.thread_id, each.last_run_id, each.user]),
    [[thread, run, 'ada']],
  );
  assert.match(story.output, /run 1 failed after .* in node "price", step 2: TypeError/);
  assert.match(story.output, /> 28 \| {3}return \{ total: order\.lines!\.length \};/);
  for (const text of [report.output, served]) {
    assert.match(text, /^# Run \S+ failed in node `price`$/m);
    assert.match(text, /node `price`, step 2, `desk\.ts:28:\d+`/);
    assert.match(text, /## State before node `price`[^]*"answer 1"/);
    assert.match(text, /Call 1: node `plan`, step 1,[^]*"prompt":"please fail"[^]*"text":"answer 1"/);
    assert.match(text, /## Printed\n\n```text\npricing 1 notes\n```/);
    assert.match(text, new RegExp(`rewound rerun ${run}.* --break price --inspect`));
    for (const secret of ['tok-of-ada-4711', 'key-in-the-url']) assert.equal(text.includes(secret), false);
  }
  assert.match(
    calls.output,
    /1 call\n +1 {2}plan, step 1 {2}POST \S+ {2}200, .*\n +asked +.*please fail.*\n/,
  );
});

test('options that name what is not there are refused with 2, and a stop says how far it came', async () => {
  const { command, good, programs } = scene();
  const file = join(programs.dir, 'answer.json');
  await writeFile(file, '{"text":"what if"}');
  const rerun = (...args: string[]) => command(['rerun', good.run, ...args]);
  // when
  const refused = await Promise.all([
    rerun('--answer', `2=${file}`),
    rerun('--break', 'nope'),
    rerun('--stub', 'nope'),
  ]);
  const [stopped, answered] = await Promise.all([rerun('--break', 'price'), rerun('--answer', `1=${file}`)]);
  // then
  assert.deepEqual(
    refused.map(({ code }) => code),
    [2, 2, 2],
  );
  assert.match(refused[0]!.output, /--answer: expected an exchange from 1 to 1, found 2/);
  assert.match(refused[1]!.output, /--break: expected a node \(plan, price\), found "nope"/);
  assert.match(refused[2]!.output, /--stub: expected a node \(plan, price\), found "nope"/);
  assert.equal(stopped.code, 0, stopped.output);
  assert.match(stopped.output, /stopped before node price: equal to the log so far/);
  assert.doesNotMatch(stopped.output, /equal: the run does again/);
  assert.match(
    answered.output,
    /Values\n[^]*notes: \["what if"\][^]*Differs from the log\n {2}notes\[0\]: "answer/,
  );
});

/** A copy of the project whose code can be changed, and the exported threads. */
async function withCopy(
  past: Past,
  name = 'copy',
): Promise<{ folder: string; files: string[]; change(from: RegExp, to: string): Promise<void> }> {
  const { command, config, failed, good, quoted, programs } = past;
  const folder = join(programs.dir, name, 'copy');
  await cp(config, folder, { recursive: true });
  await cp(join(config, '../recorded'), join(programs.dir, name, 'recorded'), { recursive: true });
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
  await symlink(modules, join(programs.dir, name, 'node_modules'));
  const files = ['failed', 'good', 'quoted'].map((name) => join(folder, `${name}.rewound`));
  for (const [at, { thread }] of [failed, good, quoted].entries())
    assert.equal((await command(['export', '--thread', thread, '-o', files[at]!])).code, 0);
  const source = join(folder, 'desk.ts');
  return {
    ...{ folder, files },
    change: async (from, to) => writeFile(source, (await readFile(source, 'utf8')).replace(from, to)),
  };
}

test('a failure is a test until it is mended; --update keeps what was meant and leaves recordings alone', async () => {
  const past = scene();
  const { folder, files, change } = await withCopy(past);
  const summary = join(folder, 'summary.md');
  const check = (...args: string[]) =>
    past.programs.run({
      args: ['rerun', '--check', ...files.slice(0, 2), '--config', folder, ...args],
      env: { ...past.env, GITHUB_STEP_SUMMARY: summary },
      cwd: folder,
    });
  const bytes = await readFile(files[1]!);
  // when
  const before = await check('--reporter', 'github');
  await change(/order\.lines!\.length/, '(order.lines?.length ?? 0)');
  const mended = await check();
  await change(/return \{ total: /, 'return { total: 5 + ');
  const changed = await check('--reporter', 'github');
  const updated = await check('--update');
  const after = await check();
  // then
  assert.equal(before.code, 1, before.output);
  assert.doesNotMatch(before.output, /pricing 1 notes/);
  assert.match(before.output, /^fails +failed\.rewound {2}run \S+ of desk: fails as it did: TypeError/m);
  assert.match(
    before.output,
    /^::error file=desk\.ts,line=28,col=\d+,title=run fails::run \S+ of desk: fails/m,
  );
  assert.match(before.output, /^equal +good\.rewound /m);
  assert.match(await readFile(summary, 'utf8'), /^\| fails \| failed\.rewound \| run /m);
  assert.equal(mended.code, 0, mended.output);
  assert.match(
    mended.output,
    /^mended +failed\.rewound .*\nequal +good\.rewound .*\n2 runs: 1 mended, 1 equal$/m,
  );
  assert.equal(changed.code, 1, changed.output);
  assert.match(
    changed.output,
    /^::error file=desk\.ts,line=\d+,title=run different::.* channel total: 1 → 6$/m,
  );
  assert.equal(updated.code, 0, updated.output);
  assert.deepEqual([after.code, after.output.match(/^equal /gm)?.length], [0, 2], after.output);
  assert.deepEqual(await readFile(files[1]!), bytes);
});

test('a check as JSON has the code of its lines; a call before a failure mends nothing, and a new failure is told', async () => {
  const past = scene();
  const { folder, files, change } = await withCopy(past, 'other');
  const check = (file: string, ...args: string[]) =>
    past.programs.run({
      args: ['rerun', '--check', file, '--config', folder, ...args],
      env: past.env,
      cwd: folder,
    });
  // when
  const json = await check(files[2]!, '--json');
  await change(/const reply = await fetch\(`\$\{model\}\/quote/, 'await fetch(`${model}/stock`);\n$&');
  await change(/return \{ total: order/, 'missing();\n  $&');
  const called = await check(files[2]!);
  const broken = await check(files[1]!);
  // then
  const { check: checked, verdict } = JSON.parse(json.output.split('\n').at(-2)!);
  assert.deepEqual([json.code, checked, verdict], [1, 'fails', 'equal'], json.output);
  assert.equal(called.code, 1, called.output);
  assert.match(called.output, /^different .*makes (a|another) request/m);
  assert.equal(broken.code, 1, broken.output);
  assert.match(broken.output, /; it fails with ReferenceError: missing is not defined at \S+desk\.ts:28:3$/m);
});

test('a debugger that --inspect waits for, and an editor with F5, stop in the node with its state in view', async () => {
  const { programs, config, data, env, failed } = scene();
  const launched = JSON.parse(ADDITIONS['vscode']!.files['.vscode/launch.json']!).configurations[0];
  const args = (launched.args as string[]).map((arg) => arg.replace('${input:run}', failed.run));
  const project = ['--config', config, '--data', data];

  async function stopIn(more: Record<string, string>, waits: RegExp): Promise<void> {
    // given
    const program = programs.launch({ args: [...args, ...project], env: { ...env, ...more } });
    const [, url] = await program.printed(waits);
    const inspector = await openInspector(url!);
    // An editor stops at the program's first line, and goes on from there.
    if ('NODE_OPTIONS' in more) {
      await inspector.stop('0');
      await inspector.resume();
    }
    // when
    const { functionName, script, value } = await inspector.stop('question');
    await inspector.resume();
    inspector.leave();
    // then
    assert.deepEqual([functionName, value], ['price', 'please fail']);
    assert.match(script, /lookback\/desk\.ts$/);
    assert.equal(await program.exited, 0, program.output());
    assert.match(program.output(), /equal: the run does again what the log says/);
  }
  await stopIn({}, /^debugger: (\S+)/m);
  await stopIn({ NODE_OPTIONS: '--inspect-brk=0' }, /Debugger listening on (\S+)/);
});

test.run();
