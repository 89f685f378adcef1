/** Members of the parameters of protocol commands. */
import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, say, textsOf } from './scene.ts';
import { command, openSocket, untilAsked } from './thread-stream.ts';

const test = suite('protocol: members of commands');
const PROTOCOL = { config: config('platform.protocol.json') };
const newId = (): string => crypto.randomUUID();

const valuesOf = async (s: TestServer, threadId: string): Promise<Record<string, unknown>> =>
  (await s.client.threads.getState<Record<string, unknown>>(threadId)).values;

const MODES = { config: config('platform.modes.json') };

for (const [place, given] of [
  ['context', { context: { tone: 'dry' } }],
  ['config.context', { config: { context: { tone: 'dry' } } }],
  ['both places', { context: { tone: 'dry' }, config: { context: { tone: 'loud' } } }],
] as const)
  test(`${place} of run.start and input.respond reaches the run`, () =>
    withServer(MODES, async (s) => {
      const threadId = newId();
      const { result } = await command(s, threadId, 'run.start', {
        assistant_id: 'tells',
        input: {},
        ...given,
        langsmith_tracer: { project_name: 'project' },
      });
      await s.until(ended(result.run_id));
      const { told } = (await valuesOf(s, threadId)) as { told: { context: object; configurable: object } };
      assert.deepEqual(told.context, { tone: 'dry' });
      assert.equal((told.configurable as { tone?: string }).tone, 'dry');
      const other = newId();
      const [question] = await untilAsked(s, other, 'approve');
      const answered = await command(s, other, 'input.respond', {
        interrupt_id: question,
        namespace: [],
        response: 'yes',
        ...given,
      });
      const { json } = await s.request('GET', `/threads/${other}/runs/${answered.result.run_id}`);
      assert.deepEqual(json.kwargs.context, { tone: 'dry' });
      assert.equal(json.kwargs.config.configurable.tone, 'dry');
    }));

test('members of commands that no client sends are refused by name, and write nothing', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const [question] = await untilAsked(s, threadId, 'approve');
    const answer = { interrupt_id: question, response: 'yes' };
    const before = (await s.events()).length;
    const socket = await openSocket(s, threadId);
    for (const [method, params, known] of [
      ['run.start', { assistant_id: 'echo', input: {} }, /context.*interrupt_before.*multitask_strategy/],
      ['input.respond', answer, /context.*responses.*strict_resume/],
      ['input.inject', { message: { role: 'user', content: 'x' } }, /namespace, message$/],
      ['state.get', {}, /namespace, keys$/],
      ['state.listCheckpoints', {}, /namespace, limit, before$/],
      ['state.fork', { checkpoint_id: 'x' }, /context.*checkpoint_id/],
      ['agent.getTree', {}, /run_id$/],
      [
        'subscription.subscribe',
        { channels: ['values'] },
        /channels, namespaces, depth, since, since_event_id$/,
      ],
      ['subscription.unsubscribe', { subscription_id: 'x' }, /subscription_id, replayed_events$/],
      ['subscription.reconnect', { run_id: newId() }, /run_id, last_event_id, subscriptions$/],
    ] as const) {
      const { error, message } = await socket.ask(method, { ...params, colour: 'red', size: 1 });
      assert.equal(error, 'invalid_argument', method);
      assert.match(message, /^body: unknown members colour, size, expected only /);
      assert.match(message, known);
    }
    const nested = await socket.ask('input.respond', { responses: [{ ...answer, colour: 'red' }] });
    assert.match(nested.message, /^responses.0: unknown members colour, expected only interrupt_id, /);
    assert.equal((await s.events()).length, before);
    socket.leave();
  }));

test('a fork that clients before 1.10 name in forkFrom begins at its checkpoint', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    for (const text of ['one', 'two']) {
      const { result } = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say(text) });
      await s.until(ended(result.run_id));
    }
    const { result } = await command(s, threadId, 'state.listCheckpoints');
    const first = await s.client.threads.getState(threadId, result.checkpoints.at(-1).id);
    const forked = await command(s, threadId, 'run.start', {
      assistant_id: 'echo',
      input: say('three'),
      forkFrom: { checkpointId: first.checkpoint.checkpoint_id },
    });
    await s.until(ended(forked.result.run_id));
    const texts = textsOf(await valuesOf(s, threadId));
    assert.ok(texts.includes('three') && !texts.includes('two'), texts.join());
  }));

test('an injected message keeps all of its members', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const { result } = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('hi') });
    await s.until(ended(result.run_id));
    const message = { role: 'user', content: 'x', id: 'own', name: 'ann' };
    const injected = await command(s, threadId, 'input.inject', { namespace: [], message });
    await s.until(ended(injected.result.run_id));
    const { messages } = (await valuesOf(s, threadId)) as { messages: { id: string; name?: string }[] };
    assert.equal(messages.find(({ id }) => id === 'own')?.name, 'ann');
  }));

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
    const threadId = newId();
    for (const path of ['commands', 'stream/events']) {
      const reply = await fetch(`${s.url}/threads/${threadId}/${path}`, { method: 'POST', body: '{"id":' });
      assert.deepEqual([reply.status, await reply.json()], [400, { detail: 'Invalid JSON body' }]);
    }
    const odd = await s.request('POST', '/threads/no-uuid/commands', { id: 1, method: 'run.start' });
    assert.deepEqual([odd.status, odd.json.id, odd.json.error], [200, 1, 'unknown_error']);
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

test.run();
