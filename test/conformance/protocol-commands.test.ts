import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, say, startGated, textsOf } from './scene.ts';
import { command, eventsOf, isRoot, untilAsked } from './thread-stream.ts';

const test = suite('protocol: commands');
const PROTOCOL = { config: config('platform.protocol.json') };
const newId = (): string => crypto.randomUUID();

const valuesOf = async (s: TestServer, threadId: string): Promise<Record<string, unknown>> =>
  (await s.client.threads.getState<Record<string, unknown>>(threadId)).values;

test('given commands that cannot be carried out, when they are sent, then each is answered with its code and text', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const other = newId();
    const [question] = await untilAsked(s, threadId, 'approve');
    const done = await command(s, other, 'run.start', { assistant_id: 'echo', input: say('x') });
    await s.until(ended(done.result.run_id));
    const consumed = (id: string | undefined): string => `Unknown or already-consumed interrupt: ${id}`;
    const table: [string, string, Record<string, unknown>, string, string | RegExp][] = [
      [other, 'run.start', {}, 'invalid_argument', 'run.start requires an assistant_id.'],
      [other, 'run.start', { assistant_id: 'none' }, 'no_such_run', /^No assistant found for "none"/],
      [
        other,
        'run.start',
        { assistant_id: 'echo', multitaskStrategy: 'later' },
        'invalid_argument',
        /^multitaskStrategy: expected one of/,
      ],
      [
        other,
        'run.start',
        { assistant_id: 'echo', config: { configurable: { checkpoint_id: 'none' } } },
        'no_such_checkpoint',
        'checkpoint_id: the thread has no checkpoint none',
      ],
      [other, 'run.start', { assistant_id: 'echo', config: 1 }, 'invalid_argument', /^config: expected/],
      [
        threadId,
        'input.respond',
        { response: 1 },
        'invalid_argument',
        'input.respond requires an interrupt_id.',
      ],
      [
        threadId,
        'input.respond',
        { responses: [] },
        'invalid_argument',
        'input.respond requires at least one response.',
      ],
      [
        threadId,
        'input.respond',
        { responses: [{ interrupt_id: question, response: 1 }, { response: 1 }] },
        'invalid_argument',
        'input.respond requires an interrupt_id.',
      ],
      [
        threadId,
        'input.respond',
        {
          responses: [
            { interrupt_id: question, response: 1 },
            { interrupt_id: 'other', response: 1 },
          ],
        },
        'no_such_interrupt',
        consumed('other'),
      ],
      ...[other, newId()].map((id): [string, string, Record<string, unknown>, string, string] => [
        id,
        'input.respond',
        { interrupt_id: question, response: 1 },
        'no_such_interrupt',
        consumed(question),
      ]),
      [threadId, 'input.inject', {}, 'invalid_argument', /^message: expected an object/],
      [
        threadId,
        'input.inject',
        { message: { role: 'user', content: 'x' } },
        'invalid_argument',
        'The thread waits for an answer: use input.respond.',
      ],
      [
        other,
        'input.inject',
        { namespace: ['child'], message: { role: 'user', content: 'x' } },
        'not_supported',
        /root graph of the thread/,
      ],
      [
        newId(),
        'input.inject',
        { message: { role: 'user', content: 'x' } },
        'no_such_run',
        /call run.start first/,
      ],
      [threadId, 'state.get', { namespace: ['none'] }, 'no_such_namespace', /none/],
      [threadId, 'state.get', { keys: 'all' }, 'invalid_argument', 'keys: expected a list of keys'],
      [threadId, 'state.listCheckpoints', { limit: 0 }, 'invalid_argument', /^limit: expected/],
      [threadId, 'state.fork', {}, 'invalid_argument', /^checkpoint_id: expected/],
      [threadId, 'state.fork', { checkpoint_id: 'none' }, 'no_such_checkpoint', /no checkpoint none/],
      [newId(), 'agent.getTree', {}, 'no_such_run', /not found/],
      [
        threadId,
        'agent.getTree',
        { run_id: newId() },
        'no_such_run',
        'No active run is bound to this thread.',
      ],
      [threadId, 'subscription.subscribe', { channels: ['values'] }, 'not_supported', /needs a WebSocket/],
      [threadId, 'nothing', {}, 'unknown_command', 'Unknown protocol command: nothing'],
    ];
    const before = (await s.events()).length;
    for (const [id, method, params, code, text] of table) {
      const answer = await command(s, id, method, params);
      assert.deepEqual(
        [answer.type, answer.id, answer.error],
        ['error', 7, code],
        `${method}: ${answer.message}`,
      );
      if (typeof text === 'string') assert.equal(answer.message, text);
      else assert.match(answer.message, text);
    }
    assert.equal((await s.events()).length, before, 'a refusal writes nothing');
    const wrongPlace = { channels: ['values'], since: 'x' };
    assert.equal(
      (await s.request('POST', `/threads/${threadId}/stream/events`, wrongPlace as any)).status,
      422,
    );
  }));

test('given one question, when two answers arrive at once, then one is taken and the other is refused', () =>
  withServer(PROTOCOL, async (s) => {
    for (let round = 0; round < 2; round += 1) {
      const threadId = newId();
      const [question] = await untilAsked(s, threadId, 'approve');
      const answers = await Promise.all(
        ['one', 'two', 'three'].map((response) =>
          command(s, threadId, 'input.respond', { namespace: [], interrupt_id: question, response }),
        ),
      );
      const taken = answers.filter(({ type }) => type === 'success');
      assert.equal(taken.length, 1);
      assert.ok(answers.every(({ type, error }) => type === 'success' || error === 'no_such_interrupt'));
      await s.until(ended(taken[0].result.run_id));
      assert.equal((await s.client.runs.list(threadId)).length, 2);
      const winner = ['one', 'two', 'three'][answers.indexOf(taken[0])];
      assert.deepEqual(textsOf(await valuesOf(s, threadId)), [`The answer was "${winner}"`]);
    }
  }));

test('given two questions, when they are answered one by one with a server restart between, then each answer reaches its own', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const [outer, inner] = await untilAsked(s, threadId, 'panel');
    const first = await command(s, threadId, 'input.respond', { interrupt_id: inner, response: 'I' });
    await s.until(ended(first.result.run_id));
    await s.restart();
    const repeated = await command(s, threadId, 'input.respond', { interrupt_id: inner, response: 'again' });
    assert.equal(repeated.error, 'no_such_interrupt');
    const second = await command(s, threadId, 'input.respond', { interrupt_id: outer, response: 'O' });
    await s.until(ended(second.result.run_id));
    const { answers } = await valuesOf(s, threadId);
    assert.deepEqual([...(answers as string[])].sort(), ['inner I', 'outer O']);
  }));

test('given a thread that waits for an answer, when a run is started with input, then that is the answer, and null or a fork is none', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    await untilAsked(s, threadId, 'approve');
    const nothing = await command(s, threadId, 'run.start', { assistant_id: 'approve', input: null });
    await s.until(ended(nothing.result.run_id));
    assert.equal((await s.client.threads.get(threadId)).status, 'interrupted');
    const { result } = await command(s, threadId, 'run.start', { assistant_id: 'approve', input: { ok: 1 } });
    await s.until(ended(result.run_id));
    assert.deepEqual(textsOf(await valuesOf(s, threadId)), ['The answer was {"ok":1}']);
    // From where the thread began, with input of its own.
    const { checkpoints } = (await command(s, threadId, 'state.listCheckpoints', { limit: 20 })).result;
    const fork = await command(s, threadId, 'state.fork', {
      checkpoint_id: checkpoints.at(-1).id,
      input: say('anew'),
    });
    await s.until(ended(fork.result.run_id));
    const state = await s.client.threads.getState(threadId);
    assert.deepEqual([textsOf(state.values), state.next], [['anew'], ['ask']]);
  }));

test('given an answer whose run was cancelled before it began, when the question is answered again, then it still waits', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const [question] = await untilAsked(s, threadId, 'asks');
    const first = await command(s, threadId, 'input.respond', {
      interrupt_id: question,
      response: 'late',
      config: { configurable: { checkpoint_id: null } },
    });
    await s.client.runs.cancel(threadId, first.result.run_id, true);
    const second = await command(s, threadId, 'input.respond', { interrupt_id: question, response: 'again' });
    if (second.type === 'error') {
      // The first was faster than its cancellation.
      assert.deepEqual(textsOf(await valuesOf(s, threadId)), ['answered: "late"']);
      return;
    }
    await s.until(ended(second.result.run_id));
    assert.deepEqual(textsOf(await valuesOf(s, threadId)), ['answered: "again"']);
  }));

test('given a busy thread, when more runs are started, then they wait, or are refused when they would not', () =>
  withServer(PROTOCOL, async (s) => {
    const { thread_id: threadId } = await s.client.threads.create();
    const { open } = await startGated(s, threadId);
    const refused = await command(s, threadId, 'run.start', {
      assistant_id: 'echo',
      input: say('now'),
      multitaskStrategy: 'reject',
    });
    assert.deepEqual([refused.type, refused.error], ['error', 'invalid_argument']);
    assert.match(refused.message, /already running/);
    const queued = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('later') });
    open();
    await s.until(ended(queued.result.run_id));
    assert.deepEqual(textsOf(await valuesOf(s, threadId)), [
      'gated',
      'through: gated',
      'later',
      'echo: later',
    ]);
    // What a command says it has applied lies before everything that it sets off, and after all that was over.
    const events = await eventsOf(s, threadId, { runs: 2 });
    const [first, second] = events.filter((event) => isRoot(event, 'running'));
    assert.ok(queued.meta.applied_through_seq < first!.seq, 'the first run was still under way');
    const third = await command(s, threadId, 'run.start', { assistant_id: 'echo', input: say('last') });
    await s.until(ended(third.result.run_id));
    const all = await eventsOf(s, threadId, { runs: 3 });
    const begins = all.findLast((event) => isRoot(event, 'running'))!;
    assert.ok(third.meta.applied_through_seq >= events.at(-1)!.seq);
    assert.ok(third.meta.applied_through_seq < begins.seq);
    assert.ok(second!.seq > first!.seq);
    assert.equal(third.meta.thread_id, threadId);
  }));

test('given an answer with an update and a jump, when it is sent, then the graph gets all three', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const [question] = await untilAsked(s, threadId, 'approve');
    const { result } = await command(s, threadId, 'input.respond', {
      interrupt_id: question,
      response: 'yes',
      update: { messages: [{ role: 'user', content: 'by the way', id: 'note' }] },
      metadata: { why: 'test' },
    });
    await s.until(ended(result.run_id));
    assert.deepEqual(textsOf(await valuesOf(s, threadId)), ['by the way', 'The answer was "yes"']);
    const run = await s.client.runs.get(threadId, result.run_id);
    assert.equal(run.metadata?.['why'], 'test');
  }));

test.run();
