/** What subscriptions and streams of a thread select. */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';
import { ALL, command, eventsOf, isEnd, openEvents, openSocket, type Event } from './thread-stream.ts';

const test = suite('protocol: filters of events');
const PROTOCOL = { config: config('platform.protocol.json') };

test('given channels, namespaces and depths, when events are read, then only those that match arrive', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    await command(s, threadId, 'run.start', { assistant_id: 'crew', input: say('hi') });
    const all = await eventsOf(s, threadId);
    const end = all.at(-1)!.seq;
    const segments = ({ params }: Event): string =>
      params.namespace.map((segment) => segment.split(':')[0]).join('|');
    const team = all.find((event) => segments(event) === 'team')!.params.namespace;
    const read = async (body: object): Promise<Event[]> => {
      // The end of the root is asked for as well, so that the test knows when it is over.
      const socket = await openSocket(s, threadId);
      const { result } = await socket.ask('subscription.subscribe', body);
      const events: Event[] = [];
      while (events.length < result.replayed_events) events.push((await socket.next())!);
      await socket.ask('subscription.subscribe', { channels: ['lifecycle'], namespaces: [[]], depth: 0 });
      while (events.at(-1)?.seq !== end) events.push((await socket.next())!);
      socket.leave();
      return events.slice(0, result.replayed_events);
    };
    const check = async (body: object, wanted: (event: Event) => boolean): Promise<void> => {
      const found = await read(body);
      assert.ok(found.length > 0);
      assert.deepEqual(found, all.filter(wanted), JSON.stringify(body));
    };
    // Messages and tool calls of the nodes directly below the graph are told as its own.
    const checkAlone = async (graph: string[]): Promise<void> => {
      const found = await read({ channels: ALL, namespaces: [graph], depth: 0 });
      const isOfNode = ({ method, params }: Event): boolean =>
        ['messages', 'tools'].includes(method) && params.namespace.length === graph.length + 1;
      const own = all
        .filter(({ params }) => graph.every((segment, index) => params.namespace[index] === segment))
        .filter((event) => event.params.namespace.length === graph.length || isOfNode(event))
        .map((event) => ({ ...event, params: { ...event.params, namespace: graph } }));
      assert.ok(own.length > 0);
      assert.deepEqual(found, own);
    };
    await check({ channels: ['values'] }, ({ method }) => method === 'values');
    await check(
      { channels: ['values', 'updates'], namespaces: [['team']] },
      (event) => ['values', 'updates'].includes(event.method) && segments(event).startsWith('team'),
    );
    await check(
      { channels: ALL, namespaces: [['team']], depth: 1 },
      (event) => segments(event) === 'team' || segments(event) === 'team|research',
    );
    await checkAlone(team);
    await checkAlone([]);
    await check(
      { channels: ['custom:timeline'] },
      ({ method, params }) => method === 'custom' && params.data.name === 'timeline',
    );
    await check({ channels: ['custom'] }, ({ method }) => method === 'custom');
    const wrong = await openSocket(s, threadId);
    const none = await wrong.ask('subscription.subscribe', { channels: ALL, namespaces: [['team:other']] });
    assert.equal(none.result.replayed_events, 0);
    wrong.leave();
  }));

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
