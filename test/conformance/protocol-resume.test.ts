import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say, untilMark } from './scene.ts';
import {
  ALL,
  command,
  eventsOf,
  isEnd,
  isRoot,
  openEvents,
  openSocket,
  openThread,
  type Event,
  finished,
} from './thread-stream.ts';

const test = suite('protocol: taking up the events of a thread');
const PROTOCOL = { config: config('platform.protocol.json') };
const EVERYTHING = { channels: ALL };

/** The text of every event, without what a stream puts around it. */
const dataOf = (texts: readonly string[]): string[] =>
  texts.map((text) => /\ndata: (.*)\nid: /.exec(text)![1]!);

async function readSocket(s: TestServer, threadId: string, body: object, end: number): Promise<string[]> {
  const socket = await openSocket(s, threadId);
  assert.equal((await socket.ask('subscription.subscribe', body)).type, 'success');
  const events = await socket.until(({ seq }) => seq === end);
  socket.leave();
  return events.map((event) => JSON.stringify(event));
}

test('S2 given readers of every kind, live, late and after a restart, when a run is read, then all get the same bytes', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const live = await openEvents(s, threadId, EVERYTHING);
    const socket = await openSocket(s, threadId);
    const subscribed = socket.ask('subscription.subscribe', EVERYTHING);
    await command(s, threadId, 'run.start', { assistant_id: 'crew', input: say('hi') });
    assert.equal((await subscribed).type, 'success');
    const end = (await live.until(isEnd)).at(-1)!.seq;
    const first = dataOf(live.texts);
    live.leave();
    const onSocket = await socket.until(isEnd);
    socket.leave();
    assert.deepEqual(
      onSocket.map((event) => JSON.stringify(event)),
      first,
    );
    assert.deepEqual(await readSocket(s, threadId, EVERYTHING, end), first);
    await s.restart();
    const again = await openEvents(s, threadId, EVERYTHING);
    await again.until(isEnd);
    again.leave();
    assert.deepEqual(dataOf(again.texts), first);
    assert.deepEqual(await readSocket(s, threadId, EVERYTHING, end), first);
  }));

test('S2 X5 given a reader in the middle of a run, when the server stops and starts again, then it goes on without gap or repetition', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const gate = join(s.dir, 'gate');
    const configurable = { gate, marks: join(s.dir, 'marks') };
    const first = await openEvents(s, threadId, EVERYTHING);
    await command(s, threadId, 'run.start', {
      assistant_id: 'steps',
      input: say('go'),
      config: { configurable },
    });
    writeFileSync(`${gate}1`, '');
    const before = await first.until(({ params }) => params.data.done === 1);
    const broken = assert.rejects(first.until(() => false));
    await untilMark(configurable.marks, 'step 2');
    await s.restart();
    await broken;
    const seen = dataOf(first.texts).map((text) => JSON.parse(text) as Event);
    assert.ok(seen.length >= before.length);
    const second = await openEvents(s, threadId, EVERYTHING, { 'last-event-id': seen.at(-1)!.event_id });
    writeFileSync(`${gate}2`, '');
    writeFileSync(`${gate}3`, '');
    const after = await second.until(isEnd);
    second.leave();
    const all = await eventsOf(s, threadId);
    assert.deepEqual([...seen, ...after], all);
    assert.equal(all.filter((event) => isRoot(event, 'running')).length, 1);
    assert.deepEqual(
      all
        .filter(({ params }) => params.data.event === 'content-block-finish')
        .map(({ params }) => params.data.content.text),
      ['step 1', 'step 2', 'step 3'],
    );
  }));

test('client.threads.stream: given an open socket, when the server restarts, then the client comes back by itself and misses nothing', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const thread = openThread(s, 'websocket', 'echo', threadId);
    const events: Event[] = [];
    let enough: () => void = () => undefined;
    thread.onEvent((event) => {
      events.push(event as unknown as Event);
      if (events.filter(isEnd).length === 2) enough();
    });
    const both = new Promise<void>((resolve) => (enough = resolve));
    await thread.run.start({ input: say('one') });
    await thread.output;
    await s.restart({ port: Number(new URL(s.url).port) });
    await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('two') });
    await both;
    const wanted = (await eventsOf(s, threadId, { runs: 2 })).filter(({ method }) =>
      ['lifecycle', 'values', 'input.requested'].includes(method),
    );
    const ids = (some: Event[]): string[] => some.map(({ event_id: id }) => id);
    assert.deepEqual(ids(events), ids(wanted));
    await thread.close();
  }));

test('given a run whose frames are past their retention, when the thread is read, then it begins with what is left', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const { result } = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('one') });
    await s.until(({ type }) => type === 'RunCompleted');
    const forget = { kind: 'forget-frames', runId: result.run_id as string, threadId } as const;
    await s.server.log.commit({ commandId: crypto.randomUUID(), appends: [], payloads: [forget] });
    const reader = await openEvents(s, threadId, EVERYTHING);
    await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('two') });
    const events = await reader.until(isEnd);
    reader.leave();
    assert.ok(isRoot(events[0]!, 'running'));
    const { values } = await s.client.threads.getState<{ messages: unknown[] }>(threadId);
    assert.equal(values.messages.length, 4);
  }));

test('X3 given runs that were cancelled, rolled back or never started, when the thread is read, then each still ends once and in order', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const marks = join(s.dir, 'marks');
    const start = async (gate: string): Promise<string> =>
      (
        await command(s, threadId, 'run.start', {
          assistant_id: 'gate',
          input: say(gate),
          config: { configurable: { gate: join(s.dir, gate), marks } },
        })
      ).result.run_id as string;
    const reader = await openEvents(s, threadId, { channels: ['lifecycle'] });
    const states = async (count: number): Promise<string[]> => {
      const found: string[] = [];
      while (found.length < count) found.push((await reader.next())!.params.data.event as string);
      return found;
    };
    const first = await start('first');
    const second = await start('second');
    assert.deepEqual(await states(1), ['running']);
    // The second waits in the queue and never begins; it is told of after the first.
    await s.client.runs.cancel(threadId, second, true);
    await untilMark(marks, 'started');
    await s.client.runs.cancel(threadId, first, true);
    assert.deepEqual(await states(3), ['interrupted', 'running', 'interrupted']);
    const third = await start('third');
    assert.deepEqual(await states(1), ['running']);
    await s.client.runs.cancel(threadId, third, true, 'rollback');
    assert.deepEqual(await states(1), ['interrupted']);
    reader.leave();
    // What was rolled back is gone for those who come later.
    const later = await eventsOf(s, threadId, { runs: 2, channels: ['lifecycle'] });
    assert.deepEqual(
      later.map(({ params }) => params.data.event),
      ['running', 'interrupted', 'running', 'interrupted'],
    );
  }));

const newId = (): string => crypto.randomUUID();

test('a stream goes on after any id, in the named form and in the form of places (official 3, S2)', () =>
  withServer(PROTOCOL, async (s) => {
    // given: two runs, the second with graphs within and questions
    const threadId = newId();
    await finished(s, threadId, 'crew');
    await finished(s, threadId, 'panel');
    const all = await eventsOf(s, threadId, { runs: 2 });
    const read = async (body: object, headers: Record<string, string> = {}): Promise<string[]> => {
      const reader = await openEvents(s, threadId, { channels: ALL, ...body }, headers);
      const events = await reader.until(({ seq }) => seq === all.at(-1)!.seq);
      reader.leave();
      return events.map(({ event_id: id }) => id);
    };
    const named = all.slice(0, -1).filter(({ event_id: id }) => id.startsWith('synth:'));
    assert.ok(named.length > 6);
    for (const { event_id: id, seq } of named) {
      // when, then
      const rest = all.filter((event) => event.seq > seq).map(({ event_id: each }) => each);
      const place = `${Math.floor(seq / 2 ** 28)}-${seq % 2 ** 28}`;
      assert.deepEqual(await read({ since: seq }), rest, id);
      assert.deepEqual(await read({ since_event_id: id }), rest, id);
      assert.deepEqual(await read({}, { 'last-event-id': id }), rest, id);
      assert.deepEqual(await read({ since_event_id: place }), rest, place);
    }
    const { event_id, seq } = named.at(-2)!;
    for (const from of [{ since_event_id: event_id }, { since: seq }]) {
      const socket = await openSocket(s, threadId);
      await socket.ask('subscription.subscribe', { channels: ALL, ...from });
      assert.equal((await socket.next())!.seq, seq + 1);
      socket.leave();
    }
    // then: what was never there, and what lies beyond the end, is the beginning
    const beginning = all.map(({ event_id: id }) => id);
    for (const id of [`synth:${newId()}:lc||running`, named[0]!.event_id.replace('running', 'x'), '99999-0'])
      assert.deepEqual(await read({ since_event_id: id }), beginning, id);
    assert.deepEqual(await read({ since: Number.MAX_SAFE_INTEGER }), beginning);
    for (const id of ['-1', 'abc', '3', '0-', '99999999999-1'])
      assert.deepEqual(await read({}, { 'last-event-id': id }), beginning, id);
  }));

test.run();
