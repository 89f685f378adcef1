import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say } from './scene.ts';
import { openStream, readFrames, type Frame } from './stream-reader.ts';
import { withTcpProxy } from '../support/tcp-proxy.ts';

const test = suite('conformance: resuming streams');

const MODES = ['values', 'updates', 'messages-tuple', 'custom'] as const;

/** A run of `count` steps, each behind its own file. */
async function startSteps(s: TestServer, count: number) {
  const threadId = await newThread(s);
  const gate = join(s.dir, 'gate-');
  const { json } = await s.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: 'steps',
    input: say('go'),
    stream_mode: [...MODES],
    config: { configurable: { gate, count } },
  });
  const runId = json.run_id as string;
  return {
    threadId,
    runId,
    path: () => `${s.url}/threads/${threadId}/runs/${runId}/stream`,
    open: (step: number) => writeFileSync(`${gate}${step}`, ''),
  };
}

const resume = (url: string, lastId: string): Promise<Frame[]> =>
  readFrames(url, { headers: { 'last-event-id': lastId } });

const isDense = (frames: readonly Frame[]): void =>
  assert.deepEqual(
    frames.map(({ id }) => Number(id)),
    frames.map((_, index) => index),
  );

test('given a finished run, when it is resumed from every id, then exactly the rest comes, also after a restart (S2)', () =>
  withServer({}, async (s) => {
    const run = await startSteps(s, 4);
    for (const step of [1, 2, 3, 4]) run.open(step);
    const all = await readFrames(run.path());
    isDense(all);
    assert.ok(all.length > 15);
    for (const restarted of [false, true]) {
      if (restarted) await s.restart();
      const rests = await Promise.all(all.map(({ id }) => resume(run.path(), id)));
      for (const [index, rest] of rests.entries()) assert.deepEqual(rest, all.slice(index + 1));
      for (const odd of [
        '-1',
        '-',
        '',
        'garbage',
        '99999',
        '1.5',
        '-2',
        '1e0',
        '0x1',
        ' ',
        '9'.repeat(30),
        `${all.length}`,
      ])
        assert.deepEqual(await resume(run.path(), odd), all, `"${odd}"`);
    }
  }));

test('given a running run, when readers come at every frame and leave again, then each sees exactly its part (S2)', () =>
  withServer({}, async (s) => {
    const run = await startSteps(s, 4);
    const main = await openStream(run.path());
    const readers: { from: string; frames: Promise<Frame[]> }[] = [];
    const seen: Frame[] = [];
    const join_ = (from: string) => readers.push({ from, frames: resume(run.path(), from) });
    join_('-1');
    for (let step = 0; step <= 4; step++) {
      if (step > 0) run.open(step);
      // Up to the frame that ends the step; the last one ends the stream.
      for (;;) {
        const frame = await main.next();
        if (frame === undefined) break;
        seen.push(frame);
        join_(frame.id);
        if (frame.event === 'values') break;
      }
      const passing = await openStream(run.path());
      await passing.next();
      passing.leave();
    }
    seen.push(...(await main.rest()));
    isDense(seen);
    for (const { from, frames } of readers)
      assert.deepEqual(await frames, from === '-1' ? seen : seen.slice(Number(from) + 1));
  }));

test('given a run that has not begun, when its stream is joined, then the reader gets it from its first frame', () =>
  withServer({}, async (s) => {
    const first = await startSteps(s, 1);
    const { json } = await s.request('POST', `/threads/${first.threadId}/runs`, {
      assistant_id: 'echo',
      input: say('second'),
    });
    const reader = await openStream(`${s.url}/threads/${first.threadId}/runs/${json.run_id}/stream`);
    first.open(1);
    const frames = await reader.rest();
    isDense(frames);
    assert.deepEqual(frames[0]!.data, { run_id: json.run_id, attempt: 1 });
    assert.equal(frames.at(-1)!.event, 'values');
  }));

test('given a run in the middle, when the server restarts, then ids go on over the attempts and resume is exact (S1, S2)', () =>
  withServer({}, async (s) => {
    const run = await startSteps(s, 3);
    const reader = await openStream(run.path());
    run.open(1);
    const before: Frame[] = [];
    while (before.filter(({ event }) => event === 'values').length < 2) before.push((await reader.next())!);
    const broken = assert.rejects(reader.rest());
    await s.restart();
    await broken;
    const live = resume(run.path(), before.at(-1)!.id);
    const fromStart = readFrames(run.path());
    run.open(2);
    run.open(3);
    const all = await fromStart;
    isDense(all);
    assert.deepEqual(all.slice(0, before.length), before);
    assert.deepEqual(await live, all.slice(before.length));
    assert.deepEqual(
      all.filter(({ event }) => event === 'metadata').map(({ data }) => data),
      [1, 2].map((attempt) => ({ run_id: run.runId, attempt })),
    );
    const { values } = await s.client.threads.getState(run.threadId);
    assert.deepEqual(all.at(-1)!.data, values);
  }));

test('given a network that loses the connection, when the official client streams, then it resumes by itself without gap or repetition (S2)', () =>
  withServer({}, (s) =>
    withTcpProxy(s.url, async (proxy) => {
      const client = new Client({ apiUrl: proxy.url, callerOptions: { maxRetries: 0 } });
      const threadId = await newThread(s);
      const gate = join(s.dir, 'gate-');
      const parts: { id?: string; event: string; data: unknown }[] = [];
      let runId = '';
      const created: string[] = [];
      for await (const part of client.runs.stream(threadId, 'steps', {
        input: say('go'),
        streamMode: ['values', 'custom'],
        config: { configurable: { gate, count: 4 } },
        onRunCreated: (run) => created.push((runId = run.run_id)),
      })) {
        parts.push(part);
        if (parts.length === 2) {
          proxy.cut();
          for (const step of [1, 2, 3, 4]) writeFileSync(`${gate}${step}`, '');
        }
      }
      // Once more for the rest.
      assert.ok(proxy.connections >= 2);
      assert.equal(created.length, 1);
      const all = await readFrames(`${s.url}/threads/${threadId}/runs/${runId}/stream`);
      assert.deepEqual(
        parts.map(({ id, event, data }) => ({ event, data, id })),
        all,
      );
      assert.equal((await s.client.runs.list(threadId)).length, 1);
    }),
  ));

test.run();
