import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, heldClock, newThread } from './scene.ts';
import { dataOf, openStream, readFrames, streamRun, type Frame } from './stream-reader.ts';

const test = suite('conformance: the stream mode lifecycle');
const NESTED = { config: config('platform.nested.json') };

interface Told {
  readonly event: string;
  readonly namespace: string[];
  readonly tool_call_id?: string;
  readonly error?: { readonly error: string; readonly message: string };
}

const isLifecycle = ({ event }: Pick<Frame, 'event'>): boolean => event.split('|')[0] === 'lifecycle';
const nodesOf = (namespace: readonly string[]): string =>
  namespace.map((segment) => segment.split(':')[0]).join('|');
const toldIn = (frames: readonly Frame[]): Told[] =>
  frames.filter(isLifecycle).map(({ data }) => data as Told);
const wordsOf = (frames: readonly Frame[]): string[] =>
  toldIn(frames).map(({ event, namespace }) => `${nodesOf(namespace)} ${event}`);

/** A graph begins before all other frames of its namespace, ends once, and the last frame comes after all ends. */
function assertWhole(frames: readonly Frame[]): void {
  for (const { namespace } of toldIn(frames).filter(({ event }) => event === 'started')) {
    const place = namespace.join('|');
    const own = frames.filter(({ event }) => event.split('|').slice(1).join('|') === place);
    const events = own.filter(isLifecycle).map(({ data }) => (data as Told).event);
    assert.ok(isLifecycle(own[0]!), `${own[0]!.event} comes before the beginning of ${place}`);
    assert.equal(events.length, 2, `${place}: ${events.join(', ')}`);
    assert.deepEqual([events[0], events[1] === 'started'], ['started', false]);
  }
  for (const { event, data } of frames.filter(isLifecycle))
    assert.equal(event, `lifecycle|${(data as Told).namespace.join('|')}`);
  const error = frames.findIndex(({ event }) => event === 'error');
  if (error >= 0) assert.equal(error, frames.length - 1);
  assert.deepEqual(
    frames.map(({ id }) => Number(id)),
    frames.map((_, index) => index),
  );
}

const WHOLE = [
  ...['team started', 'team|leaf started', 'team|leaf completed', 'team completed'],
  ...['tools started', 'tools completed'],
];

const startWorkshop = async (s: TestServer, task: string, more: object = {}): Promise<Frame[]> =>
  streamRun(s, await newThread(s), {
    ...{ assistant_id: 'workshop', input: { task }, stream_subgraphs: true },
    stream_mode: ['values', 'custom', 'tasks', 'messages-tuple', 'lifecycle'],
    ...more,
  });

test('client.runs.stream: graphs within begin and end once, with the tool call that began them', () =>
  withServer(NESTED, async (s) => {
    const parts: Frame[] = [];
    for await (const { id, event, data } of s.client.runs.stream(await newThread(s), 'workshop', {
      input: { task: 'go' },
      streamMode: ['values', 'custom', 'lifecycle'],
      streamSubgraphs: true,
    }))
      parts.push({ id: String(id), event, data });
    assertWhole(parts);
    assert.deepEqual(wordsOf(parts), WHOLE);
    const calls = toldIn(parts).flatMap(({ tool_call_id: call, namespace, event }) =>
      call === undefined ? [] : [[call, nodesOf(namespace), event]],
    );
    assert.deepEqual(calls, [['call-1', 'tools', 'started']]);
    assert.ok(toldIn(parts).every(({ error }) => error === undefined));
  }));

for (const modes of ['lifecycle', ['lifecycle', 'events'], ['messages', 'lifecycle', 'tools']])
  test(`without subgraphs the mode ${JSON.stringify(modes)} tells of graphs within, and of nothing else in them`, () =>
    withServer(NESTED, async (s) => {
      const frames = await startWorkshop(s, 'go', { stream_mode: modes, stream_subgraphs: false });
      assertWhole(frames);
      assert.deepEqual(wordsOf(frames), WHOLE);
      assert.ok(frames.every((frame) => isLifecycle(frame) || !frame.event.includes('|')));
      if (modes === 'lifecycle') assert.equal(frames.length, WHOLE.length + 1);
    }));

test('the mode lifecycle leaves the messages and values of the graph as they are without it', () =>
  withServer({ config: config('platform.modes.json') }, async (s) => {
    const shown = async (more: readonly string[], subgraphs: boolean): Promise<unknown[]> => {
      const frames = await streamRun(s, await newThread(s), {
        ...{ assistant_id: 'weather', stream_subgraphs: subgraphs },
        stream_mode: ['values', 'updates', 'messages-tuple', 'tools', ...more],
      });
      assertWhole(frames);
      assert.equal(wordsOf(frames).length, more.length * 2);
      const others = frames.filter((frame) => !isLifecycle(frame)).map(({ event }) => event);
      return others.map((name) => name.replaceAll(/[0-9a-f-]{36}/g, 'ID'));
    };
    for (const subgraphs of [false, true])
      assert.deepEqual(await shown(['lifecycle'], subgraphs), await shown([], subgraphs));
  }));

test('a plain function has no graphs within, and its stream in the mode lifecycle is empty', () =>
  withServer({}, async (s) => {
    const frames = await streamRun(s, await newThread(s), { assistant_id: 'echo', stream_mode: 'lifecycle' });
    assert.deepEqual(
      frames.map(({ event }) => event),
      ['metadata'],
    );
  }));

test('a graph within that fails ends as failed with its error, innermost first, before the error of the run', () =>
  withServer(NESTED, async (s) => {
    for (const subgraphs of [true, false]) {
      const frames = await startWorkshop(s, 'fail', { stream_subgraphs: subgraphs });
      assertWhole(frames);
      const words = ['team started', 'team|leaf started', 'team|leaf failed', 'team failed'];
      assert.deepEqual(wordsOf(frames), words);
      const error = { error: 'RangeError', message: 'the leaf fails' };
      assert.deepEqual(
        toldIn(frames).map((told) => told.error),
        [undefined, undefined, error, error],
      );
      assert.deepEqual(dataOf(frames, 'error'), [error]);
    }
  }));

test('a graph within that asks ends as interrupted, and begins again in the run that has the answer', () =>
  withServer(NESTED, async (s) => {
    const threadId = await newThread(s);
    const body = { assistant_id: 'workshop', stream_mode: ['updates', 'lifecycle'], stream_subgraphs: true };
    const asked = await streamRun(s, threadId, { ...body, input: { task: 'ask' } });
    assertWhole(asked);
    const begun = ['team started', 'team|leaf started'];
    assert.deepEqual(wordsOf(asked), [...begun, 'team|leaf interrupted', 'team interrupted']);
    const answered = await streamRun(s, threadId, { ...body, input: null, command: { resume: 'yes' } });
    assertWhole(answered);
    assert.deepEqual(wordsOf(answered), WHOLE);
    const namespaces = [asked, answered].map((frames) => toldIn(frames)[0]!.namespace);
    assert.deepEqual(namespaces[0], namespaces[1]);
  }));

/** A run that waits in its innermost graph for the gate. */
async function startWaiting(url: string, dir: string, more: object = {}) {
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      ...{ method, headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, string>;
  };
  const { thread_id: threadId = '' } = await ask('POST', '/threads', {});
  const gate = join(dir, `gate-${threadId}`);
  const { run_id: runId = '' } = await ask('POST', `/threads/${threadId}/runs`, {
    ...{ assistant_id: 'workshop', input: { task: 'wait' }, config: { configurable: { gate } } },
    ...{ stream_mode: ['values', 'custom', 'lifecycle'], stream_subgraphs: true },
    ...more,
  });
  const path = `/threads/${threadId}/runs/${runId}`;
  const reader = await openStream(`${url}${path}/stream`);
  const seen: Frame[] = [];
  while (seen.at(-1)?.event.startsWith('custom|') !== true) {
    const frame = await reader.next();
    assert.ok(frame, 'the run has ended');
    seen.push(frame);
  }
  return { path, threadId, runId, reader, seen, open: () => writeFileSync(gate, '') };
}

test('a run that is cancelled ends the graphs within it as interrupted', () =>
  withServer(NESTED, async (s) => {
    const { path, threadId, runId, reader, seen } = await startWaiting(s.url, s.dir);
    await s.client.runs.cancel(threadId, runId, true);
    seen.push(...(await reader.rest()));
    assertWhole(seen);
    assert.deepEqual(wordsOf(seen).slice(2), ['team|leaf interrupted', 'team interrupted']);
    assert.deepEqual(await readFrames(`${s.url}${path}/stream`), seen);
  }));

test('a run past its time limit ends the graphs within it as failed', () => {
  const timeout = 3_333_000;
  const clock = heldClock(timeout);
  return withServer({ ...NESTED, clock }, async (s) => {
    const { reader, seen } = await startWaiting(s.url, s.dir, { config: { timeout } });
    clock.end();
    seen.push(...(await reader.rest()));
    assertWhole(seen);
    assert.deepEqual(wordsOf(seen).slice(2), ['team|leaf failed', 'team failed']);
    assert.deepEqual(
      toldIn(seen).flatMap(({ error }) => error?.error ?? []),
      ['TimeoutError', 'TimeoutError'],
    );
  });
});

const ATTEMPTS = [1, 2];
const attemptsIn = (frames: readonly Frame[]): number[] =>
  dataOf(frames, 'metadata').map(({ attempt }) => attempt);

for (const durability of ['async', 'exit'])
  test(`after a restart with durability ${durability} no graph within begins twice, and each ends once (X5, S1, S2)`, () =>
    withServer(NESTED, async (s) => {
      const { path, seen, reader, open } = await startWaiting(s.url, s.dir, { durability });
      const broken = assert.rejects(reader.rest());
      await s.restart();
      await broken;
      open();
      const all = await readFrames(`${s.url}${path}/stream`);
      assertWhole(all);
      assert.deepEqual(attemptsIn(all), ATTEMPTS);
      assert.deepEqual(all.slice(0, seen.length), seen);
      const expected =
        durability === 'async'
          ? WHOLE
          : // The tasks of a run that begins anew have other ids.
            [...WHOLE.slice(0, 2), ...WHOLE, 'team|leaf interrupted', 'team interrupted'];
      assert.deepEqual(wordsOf(all), expected);
      for (const { id } of all) {
        const rest = await readFrames(`${s.url}${path}/stream`, { headers: { 'last-event-id': id } });
        assert.deepEqual(rest, all.slice(Number(id) + 1));
      }
    }));

test('a mode that does not exist is refused with the names of those that do', () =>
  withServer(NESTED, async (s) => {
    const body = { assistant_id: 'workshop', input: {}, stream_mode: 'lifecycles' };
    const { status, json } = await s.request('POST', `/threads/${await newThread(s)}/runs`, body as any);
    assert.equal(status, 422);
    assert.match(json.detail, /stream_mode.*lifecycle/);
  }));

test.run();
