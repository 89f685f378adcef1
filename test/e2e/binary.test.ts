/** The single executable as on a machine that has neither Node nor npm: `PATH` names an empty folder. */
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { VERSION } from '../../src/kernel/product.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withPrograms, type Programs } from './programs.ts';
import { assertStudio } from './studio-files.ts';

const test = suite('binary');
const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXECUTABLE = join(ROOT, 'dist/rewound');
const MAX_EXECUTABLE_BYTES = 130e6;

const AGENT = `import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { Annotation, interrupt, StateGraph } from '@langchain/langgraph';
import type { RunnableConfig } from '@langchain/core/runnables';

enum Step { First = 'first', Second = 'second' }
const State = Annotation.Root({
  dir: Annotation<string>(),
  done: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});
/** What a tool server over standard input and output is started like. */
const child = (command: string, file: string) =>
  new Promise<string>((resolve, reject) => {
    const { stdout } = spawn(command, [file, 'x'], { stdio: ['ignore', 'pipe', 'inherit'] }).on('error', reject);
    let text = '';
    stdout!.on('data', (data) => (text += data)).on('end', () => resolve(text.trim()));
  });

export const graph = new StateGraph(State)
  .addNode(Step.First, async ({ dir }) => {
    const file = dir + '/child.mjs';
    writeFileSync(file, 'console.log(process.argv.length, process.argv[2], process.env.NODE_OPTIONS)');
    const said = [await child('node', file), await child(process.execPath, file)];
    return { done: [Step.First, ...said] };
  })
  .addNode(Step.Second, async ({ dir }, _config: RunnableConfig) => {
    writeFileSync(dir + '/begun', '');
    while (!existsSync(dir + '/gate')) await new Promise((resolve) => setTimeout(resolve, 5));
    return { done: [Step.Second, interrupt('go on?') as string] };
  })
  .addEdge('__start__', Step.First)
  .addEdge(Step.First, Step.Second)
  .compile();
`;

/** A project with packages of its own, and the environment of a machine that has nothing else. */
async function makeMachine({ dir }: Programs) {
  const [project, home, path] = ['project', 'home', 'path'].map((name) => join(dir, name));
  await Promise.all([project!, home!, path!].map((folder) => mkdir(folder)));
  await symlink(join(ROOT, 'node_modules'), join(project!, 'node_modules'));
  await writeFile(join(project!, 'agent.ts'), AGENT);
  await writeFile(
    join(project!, 'platform.json'),
    '{ "graphs": { "agent": "./agent.ts:graph" }, "recording": true }',
  );
  return { executable: EXECUTABLE, cwd: project!, env: { HOME: home!, PATH: path! } };
}

test('the executable runs an agent, survives kill -9 in a node, and replays its log (X5)', async () => {
  // Given the executable, and a machine without Node.
  await run('npm', ['run', 'build:binary'], { cwd: ROOT });
  assert.ok((await stat(EXECUTABLE)).size <= MAX_EXECUTABLE_BYTES);
  await withPrograms(async (programs) => {
    const { dir } = programs;
    const machine = await makeMachine(programs);
    const version = await programs.run({ ...machine, args: ['--version'] });
    assert.deepEqual(version, { code: 0, output: `${VERSION}\n` });
    const serve = () =>
      programs.serve({ ...machine, args: ['--config', join(machine.cwd, 'platform.json')] });
    // When the server is killed in the middle of the second node.
    const first = await serve();
    await assertStudio(first.url);
    const { thread_id: thread } = (await first.ask('POST', '/threads', {})).json;
    const order = { assistant_id: 'agent', input: { dir } };
    const { run_id: id } = (await first.ask('POST', `/threads/${thread}/runs`, order)).json;
    await until('the second node begins', async () => existsSync(join(dir, 'begun')));
    await first.end('SIGKILL');
    await writeFile(join(dir, 'gate'), '');
    // Then the next one goes on with that node, which asks its question.
    const second = await serve();
    await second.ask('GET', `/threads/${thread}/runs/${id}/join`);
    const answer = { assistant_id: 'agent', command: { resume: 'yes' } };
    const { json } = await second.ask('POST', `/threads/${thread}/runs/wait`, answer);
    // And scripts that graph code starts run, with `node` and with the executable.
    assert.deepEqual(json.done, ['first', '3 x undefined', '3 x undefined', 'second', 'yes']);
    assert.equal(await second.end('SIGTERM'), 0, second.output());
    // And the log tells both runs, and is in order.
    const run = (...args: string[]) =>
      programs.run({ ...machine, args: [...args, '--data', join(dir, 'data')] });
    const story = await run('replay', '--thread', thread);
    assert.match(story.output, /second/);
    assert.equal((await run('verify')).code, 0);
    // And the runs are not executed again without the scripts that they started.
    const checked = await run('replay', '--check', '--thread', thread);
    assert.equal(checked.code, 3, checked.output);
    assert.match(
      checked.output,
      /untried .*: a child process \(node\) of node \w+, step \d+ is not recorded/,
    );
  });
});

test.run();
