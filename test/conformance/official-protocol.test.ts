/** Commands and events of a thread as the official server answers them; the numbers name sections of its behaviour. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say, startGated, untilMark } from './scene.ts';
import {
  ALL,
  command,
  eventsOf,
  isEnd,
  isRoot,
  openController,
  openEvents,
  openSocket,
  TRANSPORTS,
} from './thread-stream.ts';
import type { Event } from './thread-stream.ts';

const test = suite('conformance: commands and events as the official server has them');
const PROTOCOL = { config: config('platform.protocol.json') };
const newId = (): string => crypto.randomUUID();

/** Starts a run by command and waits for its end; resolves with its id. */
async function finished(s: TestServer, threadId: string, assistantId: string): Promise<string> {
  const { result } = await command(s, threadId, 'run.start', { assistant_id: assistantId, input: say('x') });
  await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === result.run_id);
  return result.run_id;
}

test('what is no command is a 400 with the id as it was sent (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const message = 'Protocol commands must include an integer id and string method.';
    for (const [body, id] of [
      [{}, null],
      [[], null],
      [{ method: 'run.start' }, null],
      [{ id: 'a', method: 'run.start' }, 'a'],
      [{ id: 1.5, method: 'run.start' }, 1.5],
      [{ id: 3 }, 3],
    ] as const) {
      const { status, json } = await s.request('POST', `/threads/${newId()}/commands`, body as any);
      assert.deepEqual([status, json], [400, { type: 'error', id, error: 'invalid_argument', message }]);
    }
  }));

test('a body of a command or stream that is no JSON is a 400 (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    for (const path of ['commands', 'stream/events']) {
      const reply = await fetch(`${s.url}/threads/${newId()}/${path}`, { method: 'POST', body: '{"id":' });
      assert.deepEqual([reply.status, await reply.json()], [400, { detail: 'Invalid JSON body' }]);
    }
  }));

test('unknown, missing and empty channels are a 400 that names the allowed ones (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const allowed =
      'Allowed: values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:<name>';
    const none = `channels must be a list of at least one channel. ${allowed}`;
    for (const [channels, detail] of [
      [['values', 'zzz'], `channels contains unsupported entries: zzz. ${allowed}`],
      [['custom:'], `channels contains unsupported entries: custom:. ${allowed}`],
      [[7], `channels contains unsupported entries: 7. ${allowed}`],
      [[], none],
      ['values', none],
      [undefined, none],
    ] as const) {
      const { status, json } = await s.request('POST', `/threads/${newId()}/stream/events`, {
        channels,
      } as any);
      assert.deepEqual([status, json], [400, { detail }]);
    }
  }));

test('a command to a thread id that is no UUID is answered with unknown_error (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const answer = await s.request('POST', '/threads/no-uuid/commands', { id: 1, method: 'run.start' });
    assert.deepEqual([answer.status, answer.json.id, answer.json.error], [200, 1, 'unknown_error']);
  }));

test('an answer to what does not wait is no_such_interrupt in every case (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    // given: a thread that is not there, one that has ended, one that is busy, one that waits
    const [absent, idle, waiting] = [newId(), newId(), newId()];
    await finished(s, idle, 'echo');
    await finished(s, waiting, 'approve');
    const busy = newId();
    const gated = await startGated(s, busy, { if_not_exists: 'create' });
    for (const threadId of [absent, idle, busy, waiting]) {
      // when
      const params = { interrupt_id: 'none', response: 1 };
      const { error, message } = await command(s, threadId, 'input.respond', params);
      // then
      const expected = ['no_such_interrupt', 'Unknown or already-consumed interrupt: none'];
      assert.deepEqual([error, message], expected);
    }
    gated.open();
  }));

test('ids of beginnings, ends and questions name the run; others their place (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const first = await finished(s, threadId, 'crew');
    const second = await finished(s, threadId, 'panel');
    const events = await eventsOf(s, threadId, { runs: 2 });
    const named = events.filter(({ event_id: id }) => id.startsWith('synth:'));
    const segment = (event: Event): string => event.params.namespace.join('|');
    for (const event of named) {
      const { event_id: id, method, params } = event;
      const run = event.seq <= events.find(isEnd)!.seq ? first : second;
      const mark =
        method === 'lifecycle'
          ? `lc|${segment(event)}|${params.data.event}`
          : `input|${segment(event)}|${params.data.interrupt_id}`;
      assert.equal(id, `synth:${run}:${mark}`);
    }
    const marks = named.map((event) => `${event.method} ${event.params.data.event ?? ''}`);
    for (const mark of ['running', 'completed', 'interrupted'])
      assert.ok(marks.includes(`lifecycle ${mark}`), mark);
    assert.equal(marks.filter((mark) => mark === 'input.requested ').length, 2);
    for (const { event_id: id, method, params } of events.filter((event) => !named.includes(event))) {
      assert.match(id, /^\d+-\d+$/);
      assert.ok(method !== 'input.requested' && (method !== 'lifecycle' || params.data.event === 'started'));
    }
    assert.equal(new Set(events.map(({ event_id: id }) => id)).size, events.length);
  }));

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
      assert.deepEqual(await read({ since_event_id: id }), rest, id);
      assert.deepEqual(await read({}, { 'last-event-id': id }), rest, id);
      assert.deepEqual(await read({ since_event_id: place }), rest, place);
    }
    const socket = await openSocket(s, threadId);
    const { event_id: since } = named.at(-2)!;
    await socket.ask('subscription.subscribe', { channels: ALL, since_event_id: since });
    assert.equal((await socket.next())!.seq, named.at(-2)!.seq + 1);
    socket.leave();
    // then: an event that was never there is the beginning
    for (const id of [`synth:${newId()}:lc||running`, named[0]!.event_id.replace('running', 'x')])
      assert.equal((await read({ since_event_id: id })).length, all.length);
  }));

test('the beginning of a graph within names the task that called it (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    await finished(s, threadId, 'crew');
    const events = await eventsOf(s, threadId, { channels: ['lifecycle', 'tasks'] });
    const tasks = events.filter(({ method }) => method === 'tasks').map(({ params }) => params.data.id);
    const started = events.filter(({ params }) => params.data.event === 'started');
    assert.ok(started.length > 0);
    for (const { params } of started) {
      const [name, task] = params.namespace.at(-1)!.split(':');
      assert.ok(tasks.includes(task));
      const { namespace } = params;
      assert.deepEqual(params.data, {
        ...{ event: 'started', namespace, graph_name: name, trigger_call_id: task },
      });
    }
  }));

for (const transport of TRANSPORTS) {
  test(`a submit after earlier runs settles at its own end over ${transport} (official 3)`, () =>
    withServer(PROTOCOL, async (s) => {
      // given: an idle thread with three runs
      const threadId = newId();
      for (let run = 0; run < 3; run += 1) await finished(s, threadId, 'echo');
      const { controller, until } = openController(s, transport, 'echo', threadId);
      await controller.hydrate(threadId);
      await until(({ messages }) => messages.length === 6);
      // when
      await controller.submit(say('fourth') as never);
      // then: the submit is not over before its run is
      await until(({ isLoading }) => !isLoading);
      assert.ok((await s.client.runs.list(threadId)).every(({ status }) => status === 'success'));
      await until(({ messages }) => messages.length === 8);
      await controller.dispose();
    }));

  test(`an answer to a question goes on to its end over ${transport} (official 3)`, () =>
    withServer(PROTOCOL, async (s) => {
      // given
      const threadId = newId();
      const asked = await finished(s, threadId, 'approve');
      const { controller, until, snapshot } = openController(s, transport, 'approve', threadId);
      await controller.hydrate(threadId);
      await until(({ interrupts }) => interrupts.length === 1);
      // when
      await controller.respond('yes' as never, { interruptId: snapshot().interrupts[0]!.id! });
      // then
      await s.until(({ type, data }) => type === 'RunCompleted' && data.runId !== asked);
      await until(({ isLoading, interrupts }) => !isLoading && interrupts.length === 0);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
      assert.equal(snapshot().error, undefined);
      await controller.dispose();
    }));

  test(`stop cancels the run that was submitted over ${transport} (official 3)`, () =>
    withServer(PROTOCOL, async (s) => {
      // given
      const threadId = newId();
      await finished(s, threadId, 'echo');
      const { controller, until } = openController(s, transport, 'gate', threadId);
      await controller.hydrate(threadId);
      const [gate, marks] = [join(s.dir, 'gate'), join(s.dir, 'marks')];
      void controller.submit(say('x') as never, { config: { configurable: { gate, marks } } } as never);
      await until(({ isLoading }) => isLoading);
      await untilMark(marks, 'started');
      // when
      await controller.stop();
      // then
      const cancelled = (run: { status: string }) => run.status === 'interrupted';
      await s.until(({ type, data }) => type === 'RunCompleted' && data.outcome.kind === 'cancelled');
      assert.ok((await s.client.runs.list(threadId)).some(cancelled));
      await controller.dispose();
    }));
}

test('the id of a root event names the run that clients cancel (official 3)', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    await startGated(s, threadId, { if_not_exists: 'create' });
    const reader = await openEvents(s, threadId, { channels: ['lifecycle'] });
    const begun = (await reader.until((event) => isRoot(event, 'running'))).at(-1)!;
    const [, runId] = begun.event_id.split(':');
    await s.client.runs.cancel(threadId, runId!);
    const end = (await reader.until(isEnd)).at(-1)!;
    assert.equal(end.event_id, `synth:${runId}:lc||interrupted`);
    reader.leave();
  }));

test.run();
