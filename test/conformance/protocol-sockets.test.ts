import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated } from './scene.ts';
import { ALL, command, eventsOf, isEnd, isRoot, openEvents, openSocket } from './thread-stream.ts';

const test = suite('protocol: sockets');
const ALLOWED =
  'Allowed: values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:<name>';
const PROTOCOL = { config: config('platform.protocol.json') };

const EVERYTHING = { channels: ALL };

const newId = (): string => crypto.randomUUID();

test('given a thread without a run, when a socket subscribes, then it is answered at once and gets the events of later runs', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const socket = await openSocket(s, threadId);
    const first = await socket.ask('subscription.subscribe', { channels: ['lifecycle'] });
    const answers = [
      first,
      await socket.ask('subscription.subscribe', { channels: ['values'], since: 2 ** 40 }),
    ];
    assert.deepEqual(
      answers,
      answers.map(({ result }, index) => ({
        type: 'success',
        id: index + 1,
        result: { subscription_id: result.subscription_id, replayed_events: 0 },
        meta: { thread_id: threadId, applied_through_seq: 0 },
      })),
    );
    const tree = await command(s, threadId, 'agent.getTree');
    assert.equal(tree.error, 'no_such_run');
    await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('hi') });
    const events = await socket.until(isEnd);
    assert.deepEqual(new Set(events.map(({ method }) => method)), new Set(['lifecycle', 'values']));
    // The second run on the same socket, then silence after the subscriptions are gone.
    const second = await socket.ask('run.start', { assistant_id: 'echo', input: say('again') });
    assert.equal(second.type, 'success');
    await socket.until(isEnd);
    for (const { result } of answers)
      assert.deepEqual((await socket.ask('subscription.unsubscribe', result)).result, {});
    const again = await socket.ask('subscription.unsubscribe', first.result);
    assert.deepEqual(
      [again.error, again.message],
      ['no_such_subscription', `Unknown subscription: ${first.result.subscription_id}`],
    );
    const seen = socket.messages.length;
    const third = await socket.ask('run.start', { assistant_id: 'echo', input: say('silent') });
    await s.until(ended(third.result.run_id));
    await socket.ask('state.get', {});
    assert.equal(socket.messages.length, seen + 2);
    socket.leave();
  }));

test('S2 given a socket with a subscription, when more join at any time, then none misses anything and ends come last', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const socket = await openSocket(s, threadId);
    void socket.ask('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.ask('run.start', { assistant_id: 'crew', input: say('hi') });
    await socket.until((event) => isRoot(event, 'running'));
    for (const channels of [['values'], ['messages', 'tools'], ['updates', 'checkpoints']])
      await socket.ask('subscription.subscribe', { channels });
    await socket.until(isEnd);
    // The run is over, and so is what the socket has been sent: the rest is sent again from the beginning.
    await socket.ask('subscription.subscribe', { channels: ['custom', 'tasks', 'input'] });
    const { result } = await socket.ask('agent.getTree');
    assert.equal(result.tree.graph_name, 'crew');
    const all = await eventsOf(s, threadId);
    const has = (): Set<number> =>
      new Set(socket.messages.filter(({ type }) => type === 'event').map(({ seq }) => seq));
    while (has().size < all.length) await socket.next();
    assert.deepEqual(
      [...has()].sort((a, b) => a - b),
      all.map(({ seq }) => seq),
    );
    socket.leave();
  }));

for (const [where, ahead] of [
  ['of the run under way', (seq: number) => seq + 1_000],
  ['of the thread', () => Number.MAX_SAFE_INTEGER],
] as const)
  test(`S2 given a subscription from beyond what there is ${where}, when another joins on the same socket, then that one misses nothing`, () =>
    withServer({ config: config('platform.modes.json') }, async (s) => {
      const threadId = await newThread(s);
      const gated = await startGated(s, threadId);
      const reader = await openEvents(s, threadId, EVERYTHING);
      const first = await reader.next();
      const socket = await openSocket(s, threadId);
      const answers = [
        socket.ask('subscription.subscribe', { channels: ['input'], since: ahead(first!.seq) }),
        socket.ask('subscription.subscribe', EVERYTHING),
      ];
      await Promise.all(answers);
      gated.open();
      const rest = await reader.until(isEnd);
      assert.deepEqual(await socket.until(isEnd), [first, ...rest]);
      socket.leave();
      reader.leave();
    }));

test('given what is no command, when a socket gets it, then it is told and stays open', () =>
  withServer(PROTOCOL, async (s) => {
    const socket = await openSocket(s, newId());
    const told = async (text: string | object): Promise<unknown[]> => {
      socket.send(text);
      const { id, type, error, message } = await socket.answer();
      assert.equal(type, 'error');
      return [id, error, message];
    };
    const malformed = 'Protocol commands must include an integer id and string method.';
    assert.deepEqual(await told('{'), [null, 'invalid_argument', 'Protocol commands must be valid JSON.']);
    for (const text of [
      '[]',
      '1',
      '{}',
      '{"id":1}',
      '{"method":"run.start"}',
      '{"id":"1","method":"x"}',
      '{"id":1.5,"method":"x"}',
      '',
    ])
      assert.deepEqual(await told(text), [null, 'invalid_argument', malformed], text);
    assert.equal((await told('{"id":1,"method":"x","params":{"__proto__":1}}'))[1], 'invalid_argument');
    const table: [string, object, string, string][] = [
      ['no.such', {}, 'unknown_command', 'Unknown protocol command: no.such'],
      ['constructor', {}, 'unknown_command', 'Unknown protocol command: constructor'],
      ['subscription.reconnect', { run_id: 'x' }, 'invalid_argument', 'run_id: expected a UUID'],
      [
        'subscription.subscribe',
        {},
        'invalid_argument',
        `channels must be a list of at least one channel. ${ALLOWED}`,
      ],
      [
        'subscription.subscribe',
        { channels: ['values', 'nothing'] },
        'invalid_argument',
        `channels contains unsupported entries: nothing. ${ALLOWED}`,
      ],
      [
        'subscription.subscribe',
        { channels: ['values'], depth: -1 },
        'invalid_argument',
        'depth: expected an integer of 0 or more',
      ],
      [
        'subscription.unsubscribe',
        { subscription_id: 'x' },
        'no_such_subscription',
        'Unknown subscription: x',
      ],
    ];
    for (const [i, [method, params, error, message]] of table.entries())
      assert.deepEqual(await told({ id: i, method, params }), [i, error, message]);
    socket.socket.send(Buffer.from(JSON.stringify({ id: 5, method: 'state.get' })), { binary: true });
    assert.equal((await socket.answer()).id, 5);
    socket.leave();
  }));

test('given subscriptions of a socket, when it and another ask whether they are still there, then only its own are', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const started = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('hi') });
    const { run_id: runId } = started.result;
    const [socket, other] = [await openSocket(s, threadId), await openSocket(s, threadId)];
    const { result } = await socket.ask('subscription.subscribe', { channels: ['lifecycle'] });
    const asked = { run_id: runId, subscriptions: [result.subscription_id] };
    const kept = await socket.ask('subscription.reconnect', asked);
    assert.deepEqual(kept.result, { restored: true, missed_events: 0 });
    assert.deepEqual((await other.ask('subscription.reconnect', asked)).result, { restored: false });
    assert.deepEqual((await socket.ask('subscription.reconnect', { run_id: runId })).result, {
      restored: false,
    });
    const unknown = await socket.ask('subscription.reconnect', { ...asked, run_id: newId() });
    assert.equal(unknown.error, 'no_such_run');
    socket.leave();
    other.leave();
  }));

test('given a socket that has run one assistant, when it is to run another, then it refuses and other sockets do not', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const socket = await openSocket(s, threadId);
    assert.equal((await socket.ask('run.start', { assistant_id: 'echo', input: say('1') })).type, 'success');
    const refused = await socket.ask('run.start', { assistant_id: 'agent', input: say('2') });
    assert.equal(refused.error, 'invalid_argument');
    assert.match(refused.message, /^Thread .* is bound to assistant .*; cannot run agent\.$/);
    const other = await openSocket(s, threadId);
    assert.equal((await other.ask('run.start', { assistant_id: 'agent', input: say('2') })).type, 'success');
    socket.leave();
    other.leave();
  }));

test.run();
