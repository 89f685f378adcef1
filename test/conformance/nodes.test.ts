/** Two servers on one database: what runs on one is read, awaited and cancelled on the other. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withPostgres } from '../support/postgres.ts';
import { shared } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say, textsOf, untilMark } from './scene.ts';
import { openStream, readFrames, type Frame } from './stream-reader.ts';
import { isEnd, openSocket } from './thread-stream.ts';

const test = suite('conformance: two nodes');
const nodes = shared<{ readonly a: TestServer; readonly b: TestServer }>(test, (use) =>
  withPostgres((url) => {
    const env = { PLATFORM_DATABASE_URL: `${url}?schema=nodes&pool=4` };
    const narrow = { ...env, PLATFORM_CONCURRENCY: '1' };
    return withServer({ env }, (a) => withServer({ env: narrow }, (b) => use({ a, b })));
  }),
);

test('/ok and /server of each node tell how many share the log', async () => {
  for (const s of Object.values(nodes())) {
    await until('the nodes have met', async () => (await s.request('GET', '/ok')).json.nodes === 2);
    assert.equal((await s.request('GET', '/server')).json.nodes.length, 2);
  }
});

/** A run of `count` steps on the first node, each behind its own file. */
async function startSteps(count: number) {
  const { a } = nodes();
  const threadId = await newThread(a);
  const gate = join(a.dir, `${randomUUID()}-`);
  const { json } = await a.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: 'steps',
    input: say('go'),
    stream_mode: ['values', 'updates', 'custom'],
    config: { configurable: { gate, count } },
  });
  const runId = json.run_id as string;
  return {
    ...{ threadId, runId, path: `/threads/${threadId}/runs/${runId}` },
    open: (step: number) => writeFileSync(`${gate}${step}`, ''),
  };
}

/** A run that is created on this node, executes on either, and waits until `open()`. */
async function startGated(s: TestServer) {
  const [threadId, gate] = [await newThread(s), join(s.dir, randomUUID())];
  const { json } = await s.request('POST', `/threads/${threadId}/runs`, {
    assistant_id: 'gate',
    input: say('gated'),
    config: { configurable: { gate, marks: `${gate}-marks` } },
  });
  await untilMark(`${gate}-marks`, 'started');
  return { path: `/threads/${threadId}/runs/${json.run_id as string}`, open: () => writeFileSync(gate, '') };
}

test('S2 a stream read on another node is the same, live, late and from any id', async () => {
  const { a, b } = nodes();
  const run = await startSteps(3);
  const live = readFrames(`${b.url}${run.path}/stream`);
  for (const step of [1, 2, 3]) run.open(step);
  const here = await readFrames(`${a.url}${run.path}/stream`);
  assert.deepEqual(await live, here);
  assert.ok(here.length > 9);
  for (const [index, { id }] of here.entries()) {
    const rest = await readFrames(`${b.url}${run.path}/stream`, { headers: { 'last-event-id': id } });
    assert.deepEqual(rest, here.slice(index + 1));
  }
});

test('a join on another node answers with the values when the run ends', async () => {
  const { b } = nodes();
  const run = await startSteps(1);
  const joined = b.request('GET', `${run.path}/join` as never);
  run.open(1);
  assert.equal((await joined).json.done, 1);
});

test('a run that is created on a node without a free permit is executed by another one', async () => {
  const { b } = nodes();
  const first = await startGated(b);
  const second = await b.request('POST', '/runs/wait', { assistant_id: 'echo', input: say('hi') });
  assert.deepEqual(textsOf(second.json), ['hi', 'echo: hi']);
  first.open();
});

test('a cancel on another node ends the run, and its wait answers', async () => {
  const { a, b } = nodes();
  const { path } = await startGated(a);
  const cancelled = await b.request('POST', `${path}/cancel?wait=true` as never);
  assert.equal(cancelled.status, 200);
  assert.equal((await b.request('GET', path as never)).json.status, 'interrupted');
});

test('X1 of thirty runs that two nodes create on one thread at once with reject, one is accepted', async () => {
  const { a, b } = nodes();
  const both = [a, b];
  for (let round = 0; round < 3; round++) {
    // given
    const threadId = await newThread(both[round % 2]!);
    const path = `/threads/${threadId}/runs` as never;
    const gate = join(a.dir, randomUUID());
    const body = { assistant_id: 'gate', input: {}, multitask_strategy: 'reject' };
    // when
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        both[index % 2]!.request('POST', path, { ...body, config: { configurable: { gate } } } as never),
      ),
    );
    // then
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 29 }, () => 409)]);
    writeFileSync(gate, '');
    const { run_id: runId } = answers.find(({ status }) => status === 200)!.json;
    for (const node of both) await node.client.runs.join(threadId, runId);
    // The other node has held the thread as a busy one.
    for (const node of both) {
      const next = { assistant_id: 'echo', input: say('next'), multitask_strategy: 'reject' as const };
      assert.equal((await node.request('POST', `/threads/${threadId}/runs/wait`, next)).status, 200);
    }
  }
});

test('S2 a thread is read on another node over SSE and a socket as on its own, run after run', async () => {
  const { a, b } = nodes();
  const threadId = await newThread(a);
  const both = [a, b];
  const streams = await Promise.all(both.map((s) => openStream(`${s.url}/threads/${threadId}/stream`)));
  const sockets = await Promise.all(both.map((s) => openSocket(s, threadId)));
  for (const socket of sockets)
    await socket.ask('subscription.subscribe', { channels: ['lifecycle', 'values'] });
  for (const content of ['one', 'two']) {
    await a.request('POST', `/threads/${threadId}/runs/wait`, { assistant_id: 'echo', input: say(content) });
    const frames = await Promise.all(
      streams.map(async (stream) => {
        const read: Frame[] = [];
        do read.push((await stream.next())!);
        while ((read.at(-1)!.data as { status?: string }).status !== 'run_done');
        return read;
      }),
    );
    assert.deepEqual(frames[1], frames[0]);
    const [here, there] = await Promise.all(sockets.map((socket) => socket.until(isEnd)));
    assert.deepEqual(there, here);
  }
  for (const reader of [...streams, ...sockets]) reader.leave();
});

test.run();
