import * as assert from 'uvu/assert';
import { Database } from '../../src/store/sqlite/library.ts';
import { createHash } from 'node:crypto';
import { cp, readdir, readFile } from 'node:fs/promises';
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

test('replay tells what is wrong with its arguments and with the directory', () =>
  withPrograms(async ({ run, dir }) => {
    const thread = '01a1fbbe-0438-7000-9ce7-d2b3ff399407';
    const results = await Promise.all([
      run({ args: ['replay'] }),
      replay(run, dir),
      replay(run, dir, '--to', '3'),
      replay(run, dir, '--thread', 'x'),
      replay(run, dir, '--thread', thread, '--to', 'now'),
    ]);
    assert.equal(
      results.map(({ code }) => code),
      [3, 3, 2, 2, 2],
    );
    const says = ['.platform', 'log.db does not exist', '--thread', '--thread: expected an id', '--to'];
    for (const [index, part] of says.entries()) assert.match(results[index]!.output, part);
    assert.equal(await readdir(dir), []);
  }));

const DAMAGE: Record<string, { readonly sql: string; readonly problem: RegExp }> = {
  'a missing event': {
    sql: "DELETE FROM events WHERE stream = @stream AND type = 'RunStarted' AND version > 4",
    problem: /goes from version \d+ to \d+/,
  },
  'a fact that cannot happen': {
    sql: `UPDATE events SET data = json_set(data, '$.runId', 'another')
          WHERE stream = @stream AND type = 'RunStarted' AND version > 4`,
    problem: /RunStarted cannot happen in "queued"/,
  },
  'a row that no event wrote': {
    sql: "UPDATE threads SET status = 'busy' WHERE 'thread-' || thread_id = @stream",
    problem: /threads \S+ differs/,
  },
  'a snapshot that is no fold': {
    sql: "UPDATE snapshots SET state = json_set(state, '$.metadata.topic', 'x') WHERE stream = @stream",
    problem: /snapshot differs/,
  },
  'a head that is gone': {
    sql: `DELETE FROM checkpoint_rows WHERE id IN (SELECT seq FROM checkpoints WHERE 'thread-' || thread_id = @stream
          AND checkpoint_id = (SELECT head FROM threads WHERE threads.thread_id = checkpoints.thread_id))`,
    problem: /head checkpoint \S+ is missing/,
  },
};

/** Where each damage shows, from the undamaged log: version of the thread's event, undefined for no event. */
const SHOWS_AT: Record<string, number | undefined> = {
  'a missing event': 9,
  'a fact that cannot happen': 8,
  'a row that no event wrote': 11,
  'a snapshot that is no fold': 11,
  'a head that is gone': 10,
};

test('verify exits 1 and names the position where a damaged log goes wrong (L2, P2, P3, R2)', () =>
  withPrograms(async ({ serve, run, dir }) => {
    const data = join(dir, 'data');
    const server = await serve(PLAIN);
    const stream = `thread-${await converse(server)}`;
    await server.end('SIGTERM');
    const positions = new Map<number, number>();
    const damaged = await Promise.all(
      Object.entries(DAMAGE).map(async ([name, { sql, problem }], index) => {
        const copy = join(dir, `copy-${index}`);
        await cp(data, copy, { recursive: true });
        const db = new Database(join(copy, 'log.db'));
        if (positions.size === 0)
          for (const event of db
            .prepare('SELECT version, position FROM events WHERE stream = ?')
            .all(stream) as { version: number; position: number }[])
            positions.set(event.version, event.position);
        assert.is(db.prepare(sql).run({ stream }).changes, 1, name);
        db.close();
        return {
          name,
          problem,
          ...(await (index === 0 ? verify(run, copy) : here(copy, 'verify'))),
        };
      }),
    );
    for (const { name, problem, code, output } of damaged) {
      assert.is(code, 1, `${name}: ${output}`);
      assert.match(output, problem);
      const version = SHOWS_AT[name];
      const position = version === undefined ? 'none' : positions.get(version);
      assert.match(output, new RegExp(`^position ${position}: `), name);
    }
    assert.is((await here(data, 'verify')).code, 0);
  }));

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
