import * as assert from 'uvu/assert';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runHere } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';
import { withPrograms, type Programs, type ServerProgram } from './programs.ts';

const test = suite('replay');

interface Entry {
  readonly position: number;
  readonly type: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Its own thread runs the graphs: what is looked at is the log. */
const PLAIN = { env: { PLATFORM_WORKERS: '0' } };

const say = (text: string) => ({ assistant_id: 'echo', input: { messages: text } });

/** Two runs on a thread, one after the other. */
async function converse(server: ServerProgram): Promise<string> {
  const thread = (await server.ask('POST', '/threads', { metadata: { topic: 'tests' } })).json.thread_id;
  for (const text of ['one', 'two']) await server.ask('POST', `/threads/${thread}/runs/wait`, say(text));
  return thread;
}

/** The command as a process of its own. */
const replay = (run: Programs['run'], data: string, ...args: string[]) =>
  run({ args: ['replay', '--data', data, ...args] });
const verify = (run: Programs['run'], data: string) => run({ args: ['verify', '--data', data] });

/** The same commands in this process, which is quicker. */
async function here(data: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const { code, out } = await runHere(args, { PLATFORM_DATA: data });
  return { code: code!, output: out };
}
const replayHere = (data: string, ...args: string[]) => here(data, 'replay', ...args);

test('beside a server under load replay lists threads, tells their past, and verifies the log (R2)', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const data = join(dir, 'data');
    const server = await serve(PLAIN);
    const thread = await converse(server);
    let loaded = true;
    const load = Promise.all(
      ['a', 'b', 'c'].map(async (text) => {
        while (loaded) assert.is((await server.ask('POST', '/runs/wait', say(text))).status, 200);
      }),
    );

    try {
      await lookBack(run, data, thread);
    } finally {
      loaded = false;
      await load;
    }
  }));

async function lookBack(run: Programs['run'], data: string, thread: string): Promise<void> {
  const list = await replay(run, data);
  assert.is(list.code, 0);
  assert.match(
    list.output,
    new RegExp(`^${thread.slice(0, 13)}\\S* +echo +idle +\\S+ \\S+  2     "one"$`, 'm'),
  );
  assert.match(list.output, /^1 thread(?:; \d+ of stateless runs and crons not shown \(--all\))?$/m);
  const listed = JSON.parse((await replayHere(data, '--json')).output) as Record<string, unknown>[];
  const row = listed.find(({ thread_id }) => thread_id === thread);
  assert.equal([row?.['status'], row?.['runs'], row?.['events']], ['idle', 2, 11]);

  const text = await run({ args: ['replay', '--thread', thread], env: { PLATFORM_DATA: data } });
  assert.is(text.code, 0, text.output);
  assert.match(text.output, /  thread created, metadata {"topic":"tests"}$/m);
  assert.match(text.output, /  run 1 of echo \(\S+…\), input "one"$/m);
  const entries = JSON.parse((await replayHere(data, '--thread', thread, '--json')).output) as Entry[];
  const life = ['RunCreated', 'RunStarted', 'CheckpointSaved', 'CheckpointSaved', 'RunCompleted'];
  assert.equal(
    entries.map(({ type }) => type),
    ['ThreadCreated', ...life, ...life],
  );
  for (const [index, { before }] of entries.entries())
    assert.is(before, entries[index - 1]?.after ?? 'absent');

  const halfway = entries[5]!.position;
  const past = await replayHere(data, '--thread', thread, '--to', String(halfway), '--json');
  const state = JSON.parse(past.output);
  assert.equal(
    [state.position, state.status, state.runs.length, state.values.messages.length],
    [halfway, 'idle', 1, 2],
  );
  assert.equal(state.metadata.topic, 'tests');
  const running = await replayHere(data, '--thread', thread, '--to', String(entries[2]!.position), '--json');
  assert.is(JSON.parse(running.output).machine.status, 'running');
  const beyond = await replay(run, data, '--thread', thread, '--to', '999999999');
  assert.is(beyond.code, 2);
  assert.match(beyond.output, /--to: expected a position up to \d+, the last of the log/);

  const verified = await verify(run, data);
  assert.is(verified.code, 0, verified.output);
  assert.match(verified.output, /^verified: \d+ events in \d+ streams/);
  const asJson = JSON.parse((await here(data, 'verify', '--json')).output);
  assert.ok(asJson.ok && asJson.events > 12 && asJson.streams > 12);
}

/** Every file with a hash of its bytes, apart from SQLite's own bookkeeping. */
async function contentsOf(dir: string): Promise<Record<string, string>> {
  const names = (await readdir(dir)).filter((name) => !/-(?:shm|wal)$/.test(name)).sort();
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, hash(await readFile(join(dir, name)))] as const)),
  );
}

test('replay leaves the bytes of a data directory as they are, after a stop and after kill -9 (R1)', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const directory = async (name: string, signal: NodeJS.Signals) => {
      const data = join(dir, name);
      const server = await serve({ ...PLAIN, args: ['--data', data] });
      const thread = await converse(server);
      await server.end(signal);
      return { data, thread };
    };
    const directories = [await directory('stopped', 'SIGTERM'), await directory('killed', 'SIGKILL')];
    for (const { data, thread } of directories) {
      const before = await contentsOf(data);
      assert.ok('log.db' in before);
      const commands = [
        ['replay'],
        ['replay', '--thread', thread],
        ['replay', '--thread', thread, '--to', '15'],
        ['verify'],
      ];
      const results = await Promise.all([verify(run, data), ...commands.map((args) => here(data, ...args))]);
      assert.equal(
        results.map(({ code }) => code),
        [0, 0, 0, 0, 0],
        results.map(({ output }) => output).join('\n'),
      );
      assert.equal(await contentsOf(data), before);
    }
  }));

test.run();
