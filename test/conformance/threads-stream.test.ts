import * as assert from 'node:assert/strict';
import type { RunBody } from '../support/api-types.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, MISSING, newThread, say, startGated } from './scene.ts';
import { openStream, readFrames, type Frame, type StreamReader } from './stream-reader.ts';

const test = suite('conformance: thread streams');
const MODES = { config: config('platform.modes.json') };

const open = (s: TestServer, threadId: string, query = '', after?: string): Promise<StreamReader> =>
  openStream(`${s.url}/threads/${threadId}/stream${query}`, {
    ...(after !== undefined && { headers: { 'last-event-id': after } }),
  });

/** Reads until a frame for which `last` is true, and leaves. */
async function until(reader: StreamReader, last: (frame: Frame) => boolean): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (let frame = await reader.next(); frame !== undefined; frame = await reader.next()) {
    frames.push(frame);
    if (last(frame)) break;
  }
  reader.leave();
  return frames;
}

const isDone = ({ event, data }: Frame): boolean =>
  event === 'metadata' && (data as { status?: string }).status === 'run_done';

const doneTimes = (times: number) => {
  let left = times;
  return (frame: Frame): boolean => isDone(frame) && --left === 0;
};

async function wait(s: TestServer, threadId: string, body: RunBody): Promise<string> {
  const run = { input: say('hi'), ...body };
  const answer = await s.request('POST', `/threads/${threadId}/runs/wait`, run);
  return answer.headers.get('content-location')!.split('/').at(-1)!;
}

test('given runs one after the other, when a thread is read from its beginning, then it is their streams in order (S2)', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const runs = [
      await wait(s, threadId, { assistant_id: 'agent' }),
      await wait(s, threadId, { assistant_id: 'fails' }),
      await wait(s, threadId, { assistant_id: 'steps', stream_mode: 'custom' }),
    ];
    const frames = await until(await open(s, threadId, '', '-'), doneTimes(3));
    const expected: Omit<Frame, 'id'>[] = [];
    for (const runId of runs) {
      const own = await readFrames(`${s.url}/threads/${threadId}/runs/${runId}/stream`);
      expected.push(...own.map(({ event, data }) => ({ event, data })));
      expected.push({ event: 'metadata', data: { status: 'run_done', run_id: runId } });
    }
    assert.deepEqual(
      frames.map(({ event, data }) => ({ event, data })),
      expected,
    );
    assert.equal(new Set(frames.map(({ id }) => id)).size, frames.length);
  }));

test('given a thread, when it is read again after each of its frames, then the rest follows, also after a restart (S2)', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    await wait(s, threadId, { assistant_id: 'steps' });
    await wait(s, threadId, { assistant_id: 'echo' });
    const all = await until(await open(s, threadId, '', '-'), doneTimes(2));
    const check = async (from: number): Promise<void> => {
      const times = all.slice(from + 1).filter(isDone).length;
      const rest = await until(await open(s, threadId, '', all[from]!.id), doneTimes(times));
      assert.deepEqual(rest, all.slice(from + 1));
    };
    for (let from = 0; from < all.length - 1; from++) await check(from);
    await s.restart();
    for (const from of [0, 3, all.length - 3]) await check(from);
    const [turn] = all[0]!.id.split('-');
    for (const unknown of ['-1', '0', 'x', '999-1', '1-x', `${turn}-999999`])
      assert.deepEqual(await until(await open(s, threadId, '', unknown), doneTimes(2)), all, unknown);
  }));

test('given a thread that runs, when it is joined without an id, then the stream goes on from now, over all later runs', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    await wait(s, threadId, { assistant_id: 'echo' });
    const gated = await startGated(s, threadId);
    // Live: the run is told of while it waits.
    const isBegun = ({ data }: Frame): boolean => (data as { run_id?: string }).run_id === gated.runId;
    await until(await open(s, threadId, '', '-'), (frame) => frame.event === 'metadata' && isBegun(frame));
    const reader = await open(s, threadId);
    gated.open();
    const first = await until(reader, doneTimes(1));
    // What the run had told before is not told again, and neither is the run before it.
    assert.ok(first.every((frame) => frame.event !== 'metadata' || isDone(frame)));
    assert.deepEqual(first.at(-1)!.data, { status: 'run_done', run_id: gated.runId });
    const idle = await open(s, threadId);
    const later = await wait(s, threadId, { assistant_id: 'echo' });
    const frames = await until(idle, doneTimes(1));
    assert.deepEqual(frames[0]!.data, { run_id: later, attempt: 1 });
  }));

test('given a thread without runs, when it is read, then the stream waits, and a run that comes is in it', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const readers = [await open(s, threadId), await open(s, threadId, '', '-'), await open(s, threadId)];
    await wait(s, threadId, { assistant_id: 'agent' });
    const [a, b, c] = await Promise.all(readers.map((reader) => until(reader, doneTimes(1))));
    assert.ok(a!.length > 3);
    assert.deepEqual([b, c], [a, a]);
  }));

test('given the modes of a thread stream, when one is asked for, then only its frames come, under the same ids', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    await wait(s, threadId, { assistant_id: 'agent' });
    await wait(s, threadId, { assistant_id: 'approve' });
    const all = await until(await open(s, threadId, '', '-'), doneTimes(2));
    const own = all.filter(({ event }) => event === 'metadata');
    for (const query of ['stream_modes=lifecycle', 'stream_mode=lifecycle', 'stream_modes=["lifecycle"]'])
      assert.deepEqual(await until(await open(s, threadId, `?${query}`, '-'), doneTimes(2)), own);
    assert.equal((await s.request('GET', `/threads/${threadId}/stream?stream_modes=loud`)).status, 422);
  }));

test('state_update tells what clients write, in its place between runs (official 1.7)', () =>
  withServer(MODES, async (s) => {
    // given: a run, a state that a client writes, another run
    const threadId = await newThread(s);
    const live = await open(s, threadId, '?stream_modes=state_update,lifecycle');
    await wait(s, threadId, { assistant_id: 'agent' });
    await s.client.threads.updateState(threadId, { values: say('written') });
    const written = (await s.request('GET', `/threads/${threadId}/state`)).json;
    await wait(s, threadId, { assistant_id: 'agent' });

    // when: it is read live, and again from its beginning and from each place
    const told = await until(live, doneTimes(2));
    const again = async (query: string, after: string, times = 2) =>
      until(await open(s, threadId, query, after), doneTimes(times));

    // then
    assert.deepEqual(
      told.map(({ event }) => event),
      ['metadata', 'metadata', 'state_update', 'metadata', 'metadata'],
    );
    assert.deepEqual(told[2]!.data, { state: written, thread_id: threadId });
    assert.deepEqual(await again('?stream_modes=state_update,lifecycle', '-'), told);
    for (const from of [0, 1, 2, 3]) {
      const times = told.slice(from + 1).filter(isDone).length;
      const rest = await again('?stream_modes=lifecycle,state_update', told[from]!.id, times);
      assert.deepEqual(rest, told.slice(from + 1), `after frame ${from}`);
    }
    const alone = await open(s, threadId, '?stream_modes=state_update', '-');
    assert.deepEqual(await alone.next(), told[2]);
    alone.leave();
    const all = await again('?stream_modes=run_modes', '-');
    assert.ok(all.every(({ event }) => event !== 'state_update'));
  }));

test('given a thread that is deleted, when its stream is open, then it ends; of a missing thread there is none', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const reader = await open(s, threadId);
    await s.request('DELETE', `/threads/${threadId}`);
    assert.deepEqual(await reader.rest(), []);
    for (const id of [threadId, MISSING]) {
      const answer = await s.request('GET', `/threads/${id}/stream`);
      assert.deepEqual([answer.status, answer.json], [404, { detail: `Thread with ID ${id} not found` }]);
    }
  }));

test('client.threads.joinStream: given a run that is cancelled and one after it, when the thread is followed, then both ends come', () =>
  withServer(MODES, async (s) => {
    const threadId = await newThread(s);
    const events: unknown[] = [];
    const leave = new AbortController();
    const gated = await startGated(s, threadId);
    await s.client.runs.cancel(threadId, gated.runId, true);
    const next = await s.client.runs.create(threadId, 'echo', { input: say('next') });
    await s.until(ended(next.run_id));
    for await (const { event, data } of s.client.threads.joinStream(threadId, {
      lastEventId: '-',
      streamMode: ['lifecycle'],
      signal: leave.signal,
    })) {
      events.push([event, data]);
      if (events.length === 4) break;
    }
    leave.abort();
    assert.deepEqual(events, [
      ['metadata', { run_id: gated.runId, attempt: 1 }],
      ['metadata', { status: 'run_done', run_id: gated.runId }],
      ['metadata', { run_id: next.run_id, attempt: 1 }],
      ['metadata', { status: 'run_done', run_id: next.run_id }],
    ]);
  }));

test.run();
