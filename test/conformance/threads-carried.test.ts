/** Threads that are exported beside a running server and imported elsewhere. */
import * as assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runHere } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, MISSING, newThread, say, startGated, textsOf } from './scene.ts';
import { readFrames } from './stream-reader.ts';

const test = suite('conformance: threads that are carried');

const STATES = { config: config('platform.states.json') };

async function exportFrom(s: TestServer, threadId: string): Promise<string> {
  const file = join(s.dir, `${threadId}.rewound`);
  const { code, out } = await runHere([
    'export',
    '--data',
    join(s.dir, 'data'),
    '--thread',
    threadId,
    '-o',
    file,
  ]);
  assert.equal(code, 0, out);
  return file;
}

const importInto = (data: string, file: string, ...more: string[]) =>
  runHere(['import', file, '--data', data, '--json', ...more]);

/** The server is stopped meanwhile. */
async function importStopped(s: TestServer, file: string, ...more: string[]): Promise<string> {
  await s.stop();
  const { out } = await importInto(join(s.dir, 'data'), file, ...more);
  await s.restart();
  return (JSON.parse(out) as { thread_id: string }).thread_id;
}

/** The error that the command ends with, and its exit code. */
async function failureOf(done: Promise<unknown>): Promise<{ exitCode?: number; message: string }> {
  const error = await done.then(
    () => assert.fail('the command succeeded'),
    (thrown: Error & { exitCode?: number }) => thrown,
  );
  return error;
}

/** What clients see of a thread, without the times of its own last change. */
async function seen(s: TestServer, threadId: string): Promise<unknown> {
  const { threads, runs } = s.client;
  const { updated_at: _, ...thread } = await threads.get(threadId);
  const list = await runs.list(threadId, { limit: 100 });
  const frames = [];
  const calls: unknown[] = [];
  for (const { run_id } of list) {
    const path = `${s.url}/threads/${threadId}/runs/${run_id}/stream`;
    const all = await readFrames(path);
    frames.push(all);
    calls.push((await s.request('GET', `/threads/${threadId}/runs/${run_id}/calls`)).json);
    // S2 From every id on, exactly the rest.
    for (const [index, { id }] of all.entries())
      assert.deepEqual(await readFrames(path, { headers: { 'last-event-id': id } }), all.slice(index + 1));
  }
  return {
    ...{ thread, list, frames, calls },
    state: await threads.getState(threadId, undefined, { subgraphs: true }),
    history: await threads.getHistory(threadId, { limit: 100 }),
  };
}

test('P2 S2 an imported thread shows the state, history, runs, frames and calls that it had', () =>
  withServer(STATES, async (s) => {
    const threadId = await newThread(s, { metadata: { note: 'über', nested: { n: 1 } } });
    for (const graph of ['agent', 'turns', 'weather', 'delta', 'survey'])
      for await (const _ of s.client.runs.stream(threadId, graph, {
        input: say('hello'),
        streamMode: ['values', 'updates', 'debug'],
        streamSubgraphs: true,
      }));
    const file = await exportFrom(s, threadId);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const before = await seen(s, threadId);
    assert.match(JSON.stringify(before), /"calls":\[.*"kind":"model"/);
    await withServer(STATES, async (other) => {
      assert.equal(await importStopped(other, file), threadId);
      assert.deepEqual(await seen(other, threadId), before);
      // The interrupted run goes on where it asked.
      await other.client.runs.wait(threadId, 'survey', { command: { resume: 'Ann' } });
      const done = await other.client.runs.wait(threadId, 'survey', { command: { resume: 9 } });
      assert.deepEqual((done as { age: unknown }).age, 9);
      // An imported thread is exported and imported like any other.
      const again = await exportFrom(other, threadId);
      const copy = await importStopped(s, again, '--new-id');
      assert.notEqual(copy, threadId);
      assert.deepEqual(
        (await s.client.threads.getState(copy)).values,
        (await other.client.threads.getState(threadId)).values,
      );
    });
    // The same two again in the log where both are by now.
    assert.deepEqual(await seen(s, threadId), before);
  }));

test('a run that was open arrives ended as imported, and its thread goes on from its last checkpoint', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const { runId, open } = await startGated(s, threadId);
    const waiting = await s.client.runs.create(threadId, 'echo', {
      input: say('later'),
      multitaskStrategy: 'enqueue',
    });
    const file = await exportFrom(s, threadId);
    open();
    await s.until(ended(waiting.run_id));
    await withServer({}, async (other) => {
      await importStopped(other, file);
      const { threads, runs } = other.client;
      const list = await runs.list(threadId);
      assert.deepEqual(new Set(list.map(({ run_id }) => run_id)), new Set([runId, waiting.run_id]));
      for (const { run_id } of list) {
        const { json } = await other.request('GET', `/threads/${threadId}/runs/${run_id}`);
        assert.deepEqual([json.status, json.cancel_reason], ['interrupted', 'imported']);
      }
      assert.equal((await threads.get(threadId)).status, 'interrupted');
      assert.deepEqual(textsOf((await threads.getState(threadId)).values), ['gated']);
      await runs.wait(threadId, 'echo', { input: say('more') });
      assert.equal((await threads.get(threadId)).status, 'idle');
    });
    assert.equal((await s.client.runs.get(threadId, runId)).status, 'success');
  }));

test('an id that is taken is refused, and --new-id imports beside it', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('hello') });
    const file = await exportFrom(s, threadId);
    const data = join(s.dir, 'data');
    await s.stop();
    const events = async () => (await readFile(join(data, 'log.db'))).length;
    const size = await events();
    const taken = await failureOf(importInto(data, file));
    assert.deepEqual([taken.exitCode, await events()], [2, size]);
    assert.match(taken.message, /is here already; --new-id imports it under new ids/);
    const first = (JSON.parse((await importInto(data, file, '--new-id')).out) as { thread_id: string })
      .thread_id;
    const second = (JSON.parse((await importInto(data, file, '--new-id')).out) as { thread_id: string })
      .thread_id;
    await s.restart();
    await s.client.threads.delete(threadId);
    const values = await Promise.all([first, second].map((id) => s.client.threads.getState(id)));
    assert.deepEqual(
      values.map((state) => textsOf(state.values)),
      [
        ['hello', 'echo: hello'],
        ['hello', 'echo: hello'],
      ],
    );
    await s.stop();
    // The id of the deleted thread is free.
    await importInto(data, file);
  }));

test('a folder with a running server, an existing file and unknown threads are refused with a remedy', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const file = await exportFrom(s, threadId);
    const data = join(s.dir, 'data');
    const busy = await failureOf(importInto(data, file));
    assert.deepEqual([busy.exitCode, /--url imports into a running server/.test(busy.message)], [3, true]);
    const again = await failureOf(runHere(['export', '--data', data, '--thread', threadId, '-o', file]));
    assert.deepEqual([again.exitCode, /replace it with --force/.test(again.message)], [2, true]);
    assert.equal(
      (await runHere(['export', '--data', data, '--thread', threadId, '-o', file, '--force'])).code,
      0,
    );
    const missing = await failureOf(
      runHere([
        'export',
        '--data',
        data,
        '--thread',
        '00000000-0000-4000-8000-000000000000',
        '-o',
        `${file}2`,
      ]),
    );
    assert.match(missing.message, /no run or thread begins with/);
    assert.ok(!existsSync(`${file}2`));
    const nothing = await failureOf(importInto(data, join(s.dir, 'no-such-file')));
    assert.equal(nothing.exitCode, 3);
  }));

test('one cause has one exit code in all commands: 2 for usage and what exists, 3 for missing, damaged or in use', () =>
  withServer({}, async (s) => {
    // Given the log of a running server, an empty folder, a thread's file, a damaged one, and a file that is in the way
    const data = ['--data', join(s.dir, 'data')];
    const project = ['--config', config('platform.json')];
    const threadId = await newThread(s);
    const good = await exportFrom(s, threadId);
    const [damaged, none, empty] = ['damaged', 'none', 'empty'].map((name) => join(s.dir, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(damaged, (await readFile(good)).subarray(0, -1));
    await writeFile(join(s.dir, 'hello.ts'), 'mine');
    const onFiles = (file: string): string[][] => [
      ['import', file, '--data', empty],
      ['open', file],
      ['restore', file, '--data', empty],
      ...['show', 'calls', 'replay'].map((command) => [command, file]),
      ['diff', file, file],
      ['rerun', file, ...project],
      ['rerun', '--check', file, ...project],
      ['replay', '--execute', file, ...project],
    ];
    const onIds = (where: string[]): string[][] => [
      ...['show', 'calls', 'pin'].map((command) => [command, MISSING, ...where]),
      ['diff', MISSING, MISSING, ...where],
      ['rerun', MISSING, ...project, ...where],
      ['export', '--thread', MISSING, '-o', none, ...where],
      ['replay', '--thread', MISSING, ...where],
    ];
    const causes: Readonly<Record<string, readonly [code: number, RegExp, string[][]]>> = {
      missing: [3, /no file that exists|ENOENT|does not exist/, onFiles(none)],
      damaged: [3, /damaged|no backup of this program/, onFiles(damaged)],
      folder: [3, /is a folder|EISDIR|is no backup/, onFiles(s.dir)],
      'no log': [
        3,
        /does not exist|there is no log/,
        [
          ...onIds(['--data', empty]),
          ...['threads', 'verify', 'rekey', 'replay'].map((command) => [command, '--data', empty]),
          ['backup', none, '--data', empty],
        ],
      ],
      unknown: [3, /no run or thread begins with/, onIds(data)],
      'in use': [
        3,
        /in use|is used|uses it/,
        [
          ['import', good, ...data],
          ['rekey', ...data],
        ],
      ],
      exists: [
        2,
        /exists|has a log|already/,
        [
          ['export', '--thread', threadId, '-o', good, ...data],
          ['backup', good, ...data],
          ['restore', good, ...data],
          ['init', s.dir, '--template', 'function'],
        ],
      ],
      usage: [
        2,
        /expected/,
        [
          ['export', '-o', none, ...data],
          ['threads', '--limit', '0', ...data],
          ['threads', '--since', 'then', ...data],
          ['show', threadId, '--to', 'x', ...data],
          ['show', threadId, '--to', '999999999', ...data],
          ['show', threadId, '--markdown', '--max-characters', '9', ...data],
          ['calls', good, 'x'],
          ['rerun', '--update', threadId, ...project, ...data],
          ['rerun', good, '--match', 'all', ...project],
        ],
      ],
    };
    // When a command meets one of them, then its code and words say which it was
    for (const [cause, [code, words, all]] of Object.entries(causes))
      for (const args of all) {
        const { exitCode, message } = await failureOf(runHere(args));
        assert.deepEqual([cause, args[0], exitCode], [cause, args[0], code], `${args.join(' ')}: ${message}`);
        assert.match(message, words, `${cause}: ${args.join(' ')}`);
      }
    for (const file of [s.dir, none]) {
      const sent = await failureOf(runHere(['import', file, '--url', s.url]));
      assert.deepEqual([sent.exitCode, /cannot be read/.test(sent.message)], [3, true], sent.message);
    }
    for (const [file, code] of [
      [good, 2],
      [damaged, 3],
    ] as const)
      assert.equal((await failureOf(runHere(['import', file, '--url', s.url]))).exitCode, code);
    assert.ok(!existsSync(empty));
  }));

test.run();
