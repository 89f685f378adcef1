/** The command `open`: an exported file is looked into without a project. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { Client } from '@langchain/langgraph-sdk';
import { config, newThread, say } from '../conformance/scene.ts';
import { readFrames } from '../conformance/stream-reader.ts';
import { runHere } from '../support/command-line.ts';
import { counted, toContent, toFile, toRecords } from '../support/hostile-files.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { withPrograms } from './programs.ts';

const test = suite('open');

/** A thread of a graph with an interrupt and of a plain function. */
async function exported(s: TestServer): Promise<{ threadId: string; file: string }> {
  const threadId = await newThread(s);
  for (const graph of ['echo', 'turns', 'survey'])
    for await (const _ of s.client.runs.stream(threadId, graph, {
      input: say('hello'),
      streamMode: ['values'],
    }));
  const file = join(s.dir, 'file');
  await runHere(['export', '--data', join(s.dir, 'data'), '--thread', threadId, '-o', file]);
  return { threadId, file };
}

test('R1 an exported file is served without a project: it shows what it holds and takes no changes', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const { threadId, file } = await exported(s);
    await withPrograms(async ({ launch, dir }) => {
      const program = launch({ args: ['open', file], cwd: dir, env: { TMPDIR: dir } });
      const [, url = ''] = await program.printed(/Serving on +(\S+), for reading/);
      const { threads, runs } = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
      const real = s.client.threads;
      assert.deepEqual(await threads.getState(threadId), await real.getState(threadId));
      const [shown, lived] = await Promise.all(
        [threads, real].map((each) => each.getHistory(threadId, { limit: 100 })),
      );
      const parts = (history: typeof shown) =>
        history!.map(({ values, checkpoint, parent_checkpoint, metadata }) => ({
          values,
          checkpoint,
          parent_checkpoint,
          metadata,
        }));
      assert.deepEqual(parts(shown), parts(lived));
      for (const { run_id } of await runs.list(threadId)) {
        const path = `/threads/${threadId}/runs/${run_id}/stream`;
        assert.deepEqual(await readFrames(url + path), await readFrames(s.url + path));
      }
      assert.equal((await threads.search()).length, 1);
      for (const [method, path] of [
        ['POST', '/threads'],
        ['PATCH', `/threads/${threadId}`],
        ['DELETE', `/threads/${threadId}`],
        ['POST', `/threads/${threadId}/runs`],
        ['POST', `/threads/${threadId}/state`],
        ['POST', `/threads/${threadId}/commands`],
        ['PUT', '/store/items'],
        ['GET', `/threads/${threadId}/stream/events`],
      ] as const) {
        const reply = await fetch(url + path, { method, ...(method !== 'GET' && { body: '{}' }) });
        assert.deepEqual(
          [reply.status, /nothing can be changed/.test(await reply.text())],
          [409, true],
          path,
        );
      }
      assert.equal(await program.end('SIGTERM'), 0);
      assert.deepEqual(readdirSync(dir), []);
    });
  }));

test('a recording in a file that is a bomb leaves its run untried, and the file can be opened (R1)', () =>
  withServer({}, async (s) => {
    // Given a file with a bomb as the recording of its run
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('hello') });
    const file = join(s.dir, 'file');
    await runHere(['export', '--data', join(s.dir, 'data'), '--thread', threadId, '-o', file]);
    const records = toRecords(await readFile(file));
    const at = records.findIndex(({ head }) => head['kind'] === 'frame');
    const { thread, run: runId } = records[at]!.head;
    const head = { kind: 'recording', thread, run: runId, encoding: 'bytes' };
    const body = zstdCompressSync(Buffer.alloc(200_000_000));
    await writeFile(
      file,
      toFile(zstdCompressSync(toContent(counted(records.toSpliced(at, 0, { head, body }))))),
    );
    await withPrograms(async ({ run, launch, dir }) => {
      // When the run is executed again, or its exchanges are written, then it is untried
      for (const how of [['--execute'], ['--har', join(dir, 'har')]]) {
        const args = ['replay', file, ...how, '--config', config('platform.json')];
        const { code, output } = await run({ args, env: { TMPDIR: dir } });
        assert.equal(code, 3, output);
        assert.match(output, /the recording cannot be read: a part is damaged, or larger than/);
      }
      // And what else the file has can be looked at
      const program = launch({ args: ['open', file], cwd: dir, env: { TMPDIR: dir } });
      const [, url = ''] = await program.printed(/Serving on +(\S+), for reading/);
      const reader = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
      assert.equal((await reader.runs.list(threadId)).length, 1);
      assert.equal(await program.end('SIGTERM'), 0);
    });
  }));

test.run();
