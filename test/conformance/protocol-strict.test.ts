import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say, startGated } from './scene.ts';
import {
  command,
  eventsOf,
  isEnd,
  isRoot,
  openController,
  openEvents,
  openSocket,
  TRANSPORTS,
  type Event,
} from './thread-stream.ts';

const test = suite('protocol: strict answers and answered questions');
const PROTOCOL = { config: config('platform.protocol.json') };
const STRANGE = '0'.repeat(32);

/** A thread whose question waits. */
async function asked(s: TestServer, graph = 'approve'): Promise<{ threadId: string; id: string }> {
  const threadId = await newThread(s);
  await s.client.runs.wait(threadId, graph, { input: say('may I?') });
  const { interrupts } = await s.client.threads.get(threadId);
  return { threadId, id: Object.values(interrupts)[0]![0]!.id! };
}

const respond = (s: TestServer, threadId: string, id: string, more: object = {}): Promise<any> =>
  command(s, threadId, 'input.respond', { namespace: [], interrupt_id: id, response: 'yes', ...more });

/** The events of one run, by the id that its beginning names. */
function ofRun(events: readonly Event[], runId: string): Event[] {
  const start = events.findIndex(({ event_id: id }) => id === `synth:${runId}:lc||running`);
  const end = events.findIndex((event, index) => index > start && isEnd(event));
  return events.slice(start, end + 1);
}
const answersIn = (events: readonly Event[]): unknown[] =>
  events.filter(({ method }) => method === 'input.answered').map(({ params }) => params.data);

test('a refused strict answer of input.respond is a success, and the end of its run tells the refusal (X3)', () =>
  withServer(PROTOCOL, async (s) => {
    for (const graph of ['approve', 'asks']) {
      // given
      const { threadId, id } = await asked(s, graph);
      const before = await s.client.threads.get(threadId);
      // when
      const answer = await respond(s, threadId, STRANGE, { strict_resume: true });
      // then
      assert.equal(answer.type, 'success');
      const { run_id: runId } = answer.result;
      await s.client.runs.join(threadId, runId);
      const refused = ofRun(await eventsOf(s, threadId, { runs: 2 }), runId);
      assert.deepEqual(
        refused.map(({ event_id: eventId, method, params }) => [
          eventId,
          method,
          params.namespace,
          params.data,
        ]),
        [
          [`synth:${runId}:lc||running`, 'lifecycle', [], { event: 'running', graph_name: graph }],
          [refused[1]!.event_id, 'input.answered', [], { interrupt_ids: [STRANGE] }],
          [
            `synth:${runId}:lc||failed`,
            'lifecycle',
            [],
            {
              ...{ event: 'failed', graph_name: graph },
              ...{ error: `Unknown or already-consumed interrupt: ${STRANGE}`, reason: 'not_pending' },
              ...{ interrupt_ids: [STRANGE], pending_ids: [id] },
            },
          ],
        ],
      );
      assert.match(refused[1]!.event_id, /^\d+-1$/);
      const { status, interrupts, values } = await s.client.threads.get(threadId);
      assert.deepEqual(
        { status, interrupts, values },
        { status: 'interrupted', interrupts: before.interrupts, values: before.values },
      );
      // Its own question is still there for the right answer.
      const right = await respond(s, threadId, id, { strict_resume: true });
      await s.client.runs.join(threadId, right.result.run_id);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    }
  }));

test('without strict_resume input.respond to what does not wait stays an error, with a wrong one it is refused', () =>
  withServer(PROTOCOL, async (s) => {
    const { threadId } = await asked(s);
    for (const more of [{}, { strict_resume: false }]) {
      const { error, message } = await respond(s, threadId, STRANGE, more);
      assert.deepEqual(
        [error, message],
        ['no_such_interrupt', `Unknown or already-consumed interrupt: ${STRANGE}`],
      );
    }
    const wrong = await respond(s, threadId, STRANGE, { strict_resume: 'yes' });
    assert.deepEqual(
      [wrong.error, wrong.message],
      ['invalid_argument', 'strict_resume: expected true or false'],
    );
    const nowhere = await respond(s, await newThread(s), STRANGE, { strict_resume: true });
    assert.equal(nowhere.error, 'no_such_interrupt');
  }));

test('a strict input.respond whose id is of another form is refused, and the questions stay', () =>
  withServer(PROTOCOL, async (s) => {
    for (const graph of ['approve', 'asks', 'panel']) {
      // given
      const { threadId, id } = await asked(s, graph);
      const before = await s.client.threads.get(threadId);
      for (const more of [{}, { goto: 'nowhere' }]) {
        // when
        const { result } = await respond(s, threadId, 'none', { strict_resume: true, ...more });
        // then
        const { __error__: error }: any = await s.client.runs.join(threadId, result.run_id);
        const { reason, interrupt_ids: named, pending_ids: pending } = error;
        assert.deepEqual([reason, named, pending.includes(id)], ['not_pending', ['none'], true]);
      }
      const { interrupts, status } = await s.client.threads.get(threadId);
      assert.deepEqual([interrupts, status], [before.interrupts, 'interrupted']);
    }
  }));

test('of two strict input.respond to one question one counts, the other is told with the rest of the questions', () =>
  withServer(PROTOCOL, async (s) => {
    const { threadId, id } = await asked(s);
    const socket = await openSocket(s, threadId);
    await socket.ask('subscription.subscribe', { channels: ['lifecycle', 'input'] });
    const strict = { strict_resume: true };
    const answers = await Promise.all([respond(s, threadId, id, strict), respond(s, threadId, id, strict)]);
    for (const { result } of answers) await s.client.runs.join(threadId, result.run_id);
    const events = await eventsOf(s, threadId, { runs: 3 });
    const ends = answers.map(({ result }) => ofRun(events, result.run_id).at(-1)!.params.data);
    assert.deepEqual(ends.map(({ event }) => event).sort(), ['completed', 'failed']);
    const { reason, pending_ids: pending } = ends.find(({ event }) => event === 'failed');
    assert.deepEqual([reason, pending], ['not_pending', []]);
    // Both transports, live and after a restart, tell the same.
    const wanted = events.filter(({ method }) => method === 'lifecycle' || method.startsWith('input.'));
    const live = await socket.until(({ seq }) => seq === events.at(-1)!.seq);
    assert.deepEqual(live, wanted);
    socket.leave();
    await s.restart();
    assert.deepEqual(await eventsOf(s, threadId, { runs: 3 }), events);
  }));

test('input.answered names the questions of every run that resumes by id, once, whatever started it', () =>
  withServer(PROTOCOL, async (s) => {
    const [byId, byValue] = [await asked(s), await asked(s)];
    const started = await asked(s, 'asks');
    const wait = (threadId: string, resume: unknown) =>
      s.client.runs.wait(threadId, 'approve', { command: { resume } });
    await wait(byId.threadId, { [byId.id]: 'yes' });
    await wait(byValue.threadId, 'yes');
    await command(s, started.threadId, 'run.start', { assistant_id: 'asks', input: 'yes' });
    const answered = await eventsOf(s, byId.threadId, { runs: 2 });
    assert.deepEqual(answersIn(answered), [{ interrupt_ids: [byId.id] }]);
    const at = answered.findIndex(({ method }) => method === 'input.answered');
    assert.ok(isRoot(answered[at - 1]!, 'running'));
    for (const { threadId } of [byValue, started])
      assert.deepEqual(answersIn(await eventsOf(s, threadId, { runs: 2 })), []);
    // The channel of questions carries the answers too.
    const reader = await openEvents(s, byId.threadId, { channels: ['input'] });
    const two = [await reader.next(), await reader.next()].map((event) => event!.method);
    assert.deepEqual(two, ['input.requested', 'input.answered']);
    reader.leave();
  }));

test('a run that ends before it starts has answered nothing, and other failures have no reason', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = await newThread(s);
    const under = await startGated(s, threadId);
    const resume = { [STRANGE]: 1 };
    const { run_id: runId } = await s.client.runs.create(threadId, 'gate', {
      ...{ command: { resume }, strictResume: true },
    });
    await s.client.runs.cancel(threadId, runId, true);
    under.open();
    await s.client.runs.join(threadId, under.runId);
    const events = await eventsOf(s, threadId, { runs: 2 });
    assert.deepEqual(answersIn(events), []);
    assert.equal(ofRun(events, runId).at(-1)!.params.data.event, 'interrupted');
    // Goes where no goto is possible.
    const failed = await command(s, threadId, 'run.start', {
      assistant_id: 'gate',
      input: { lg_name: 'Command', goto: ['nowhere'] },
    });
    await s.client.runs.join(threadId, failed.result.run_id).catch(() => undefined);
    const { data } = ofRun(await eventsOf(s, threadId, { runs: 3 }), failed.result.run_id).at(-1)!.params;
    assert.deepEqual(Object.keys(data), ['event', 'graph_name', 'error']);
  }));

for (const transport of TRANSPORTS)
  test(`client.threads.stream: a strict answer that comes second over ${transport} is an error with its reason`, () =>
    withServer(PROTOCOL, async (s) => {
      // given: two clients show the question
      const { threadId, id } = await asked(s);
      const [one, two] = [
        openController(s, transport, 'approve', threadId),
        openController(s, transport, 'approve', threadId),
      ];
      for (const each of [one, two]) {
        await each.controller.hydrate(threadId);
        await each.until(({ interrupts }) => interrupts.length === 1);
      }
      const completed = two.completed();
      // when
      await one.controller.respond('one' as never, { interruptId: id, strictResume: true });
      // then: the other one hides the question
      await two.until(({ interrupts, isLoading }) => interrupts.length === 0 && !isLoading);
      await completed;
      await two.controller.respond('two' as never, { interruptId: id, strictResume: true });
      await two.until(({ error }) => error !== undefined);
      const { name, message, reason, interruptIds, pendingIds } = two.snapshot().error as any;
      assert.deepEqual(
        [name, message, reason, interruptIds, pendingIds],
        ['UnknownInterruptError', `Unknown or already-consumed interrupt: ${id}`, 'not_pending', [id], []],
      );
      for (const each of [one, two]) await each.controller.dispose();
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    }));

for (const transport of TRANSPORTS)
  test(`client.threads.stream: after another client's refused answer over ${transport} the question is shown again`, () =>
    withServer(PROTOCOL, async (s) => {
      // given
      const { threadId, id } = await asked(s);
      const { controller, until, snapshot } = openController(s, transport, 'approve', threadId);
      await controller.hydrate(threadId);
      await until(({ interrupts }) => interrupts.length === 1);
      const hidden = until(({ interrupts }) => interrupts.length === 0);
      // when: the answer names two questions, of which one does not wait
      const responses = [id, STRANGE].map((each) => ({ interrupt_id: each, response: 'yes' }));
      await command(s, threadId, 'input.respond', { responses, strict_resume: true });
      // then: the run that would answer it hides it, its refusal shows it
      await hidden;
      await until(({ interrupts }) => interrupts.length === 1);
      assert.equal(snapshot().interrupts[0]!.id, id);
      await controller.dispose();
    }));

test.run();
