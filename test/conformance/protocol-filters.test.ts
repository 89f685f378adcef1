/** What subscriptions and streams of a thread select. */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';
import { command, eventsOf, isEnd, openEvents, openSocket, type Event } from './thread-stream.ts';

const test = suite('protocol: filters of events');
const PROTOCOL = { config: config('platform.protocol.json') };

test('messages of nodes have one namespace for each subscription of a socket and for each stream', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    const alone = { channels: ['messages', 'lifecycle'], namespaces: [[]], depth: 0 };
    const socket = await openSocket(s, threadId);
    for (const body of [alone, { channels: ['messages'], namespaces: [[]], depth: 1 }])
      await socket.ask('subscription.subscribe', body);
    await command(s, threadId, 'run.start', { assistant_id: 'crew', input: say('hi') });
    const ofAnswer = (events: Event[]): string[] =>
      events
        .filter(({ method, params }) => method === 'messages' && params.node === 'answer')
        .map(({ params }) => `${params.data.event} ${params.namespace.length}`);
    const live = ofAnswer(await socket.until(isEnd));
    const stream = await openEvents(s, threadId, alone);
    const told = ofAnswer(await stream.until(isEnd));
    assert.equal(told[0], 'message-start 0');
    assert.ok(told.every((each) => each.endsWith(' 0')));
    assert.deepEqual(
      live,
      told.flatMap((each) => [each.replace(' 0', ' 1'), each]),
    );
    socket.leave();
    stream.leave();
  }));

test("the Python client gets messages and tool calls in their graph's namespace, over both transports", () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    // The client widens every subscription of it to all namespaces, and selects the exact one by itself.
    const body = { channels: ['lifecycle', 'messages', 'tools'] };
    const socket = await openSocket(s, threadId, { 'user-agent': 'Python/3.11 websockets/15.0.1' });
    await socket.ask('subscription.subscribe', body);
    await command(s, threadId, 'run.start', { assistant_id: 'crew', input: say('hi') });
    const live = await socket.until(isEnd);
    const all = await eventsOf(s, threadId, body);
    const stream = await openEvents(s, threadId, body, { 'user-agent': 'langgraph-sdk-py/0.4.14' });
    const told = await stream.until(isEnd);
    const byGraph = all.map((event) => {
      const { namespace } = event.params;
      const graph = event.method === 'lifecycle' ? namespace : namespace.slice(0, -1);
      return { ...event, params: { ...event.params, namespace: graph } };
    });
    assert.deepEqual(told, byGraph);
    assert.deepEqual(live, byGraph);
    assert.deepEqual(
      new Set(
        told.filter(({ method }) => method === 'messages').map(({ params }) => params.namespace.length),
      ),
      new Set([0, 2]),
    );
    socket.leave();
    stream.leave();
  }));

test.run();
