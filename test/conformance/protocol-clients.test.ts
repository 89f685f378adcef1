import assert from 'node:assert/strict';
import { HumanMessage } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say, startGated, textsOf } from './scene.ts';
import { command, openController, openThread, TRANSPORTS, finished } from './thread-stream.ts';

const test = suite('protocol: clients built on the events of a thread');
const PROTOCOL = { config: config('platform.protocol.json') };

for (const transport of TRANSPORTS)
  test(`client.threads.stream: given the client's own controller, when it submits twice and is opened anew over ${transport}, then it shows the conversation`, () =>
    withServer(PROTOCOL, async (s) => {
      const first = openController(s, transport, 'crew');
      await first.controller.submit(say('hi') as never);
      await first.until(({ isLoading, messages }) => !isLoading && messages.length === 5);
      assert.deepEqual(first.texts(), ['hi', '', '3', 'thought', 'done']);
      assert.deepEqual(
        first.snapshot().toolCalls.map(({ name, output }) => [name, output]),
        [['add', '3']],
      );
      const { threadId } = first.snapshot();
      assert.deepEqual(
        [...first.controller.subgraphStore.getSnapshot().values()].map(({ namespace }) =>
          namespace.map((part) => part.split(':')[0]).join('/'),
        ),
        ['team', 'team/research'],
      );
      await first.controller.submit({
        messages: [new HumanMessage({ content: 'more', id: 'more' })],
      } as never);
      await first.until(({ isLoading, messages }) => !isLoading && messages.length > 5);
      assert.equal(first.snapshot().error, undefined);
      const second = openController(s, transport, 'crew', threadId!);
      await second.until(({ messages }) => messages.length > 0);
      assert.deepEqual(second.texts(), first.texts());
      assert.equal(second.snapshot().isLoading, false);
      await first.controller.dispose();
      await second.controller.dispose();
    }));

for (const transport of TRANSPORTS)
  test(`client.threads.stream: given a question, when the controller that comes later answers it over ${transport}, then the run goes on and ends`, () =>
    withServer(PROTOCOL, async (s) => {
      const threadId = crypto.randomUUID();
      await command(s, threadId, 'run.start', { assistant_id: 'approve', input: say('may I?') });
      await s.until(({ type }) => type === 'RunCompleted');
      const { controller, until, snapshot, texts } = openController(s, transport, 'approve', threadId);
      await controller.hydrationPromise;
      assert.deepEqual(
        snapshot().interrupts.map(({ value }) => value),
        [{ question: 'Shall I?' }],
      );
      await controller.respond({ yes: true }, { interruptId: snapshot().interrupts[0]!.id! });
      await until(({ isLoading, messages }) => !isLoading && messages.length === 2);
      assert.deepEqual(texts(), ['may I?', 'The answer was {"yes":true}']);
      assert.deepEqual(snapshot().interrupts, []);
      await controller.dispose();
    }));

test('client.threads.stream: given a run under way, when a message is injected, then it is the input of a run behind it', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    await s.client.threads.create({ threadId });
    const { runId, open: letGo } = await startGated(s, threadId, { graph: 'gate' });
    const thread = s.client.threads.stream(threadId, { assistantId: 'gate' });
    await thread.input.inject({ namespace: [], message: { role: 'user', content: 'and another thing' } });
    const [next] = await s.client.runs.list(threadId, { status: 'pending' });
    assert.notEqual(next?.run_id, runId);
    letGo();
    await s.client.runs.join(threadId, next!.run_id);
    const { values } = await s.client.threads.getState(threadId);
    assert.ok(textsOf(values).includes('and another thing'));
    assert.equal((await s.client.runs.get(threadId, next!.run_id)).status, 'success');
    await thread.close();
  }));

test('client.threads.stream: given a run that another client started, when a controller opens its thread, then it follows to the end', () =>
  withServer(PROTOCOL, async (s) => {
    const { thread_id: threadId } = await s.client.threads.create();
    const { open: release } = await startGated(s, threadId, { stream_mode: ['values', 'messages-tuple'] });
    const { controller, until, snapshot, texts } = openController(s, 'sse', 'gate', threadId);
    await controller.hydrationPromise;
    await until(({ isLoading }) => isLoading);
    release();
    await until(({ isLoading, messages }) => !isLoading && messages.length === 2);
    assert.deepEqual(texts(), ['gated', 'through: gated']);
    assert.equal(snapshot().error, undefined);
    await controller.dispose();
  }));

for (const transport of TRANSPORTS)
  test(`client.threads.stream: given a new thread over ${transport}, when it is subscribed to before its first run, then the run's events follow`, () =>
    withServer(PROTOCOL, async (s) => {
      const thread = openThread(s, transport, 'crew');
      const subscription = await thread.subscribe(['lifecycle'], { namespaces: [[]], depth: 0 });
      await thread.run.start({ input: say('hi') });
      const states: string[] = [];
      for await (const { params } of subscription) {
        states.push((params.data as { event: string }).event);
        if (states.includes('completed')) break;
      }
      assert.deepEqual(states, ['running', 'completed']);
      await thread.close();
    }));

test('RemoteGraph.streamEvents: given a remote graph, when its events are streamed and a command goes on, then messages, states and questions arrive', () =>
  withServer(PROTOCOL, async (s) => {
    const graph = new RemoteGraph({ graphId: 'crew', client: s.client as never });
    const run = await graph.streamEvents(say('hi'), { version: 'v3' } as never);
    const texts: string[] = [];
    const stream = run as unknown as {
      messages: AsyncIterable<{ text: PromiseLike<string> }>;
      output: Promise<{ messages: unknown[] }>;
    };
    for await (const message of stream.messages) texts.push(await message.text);
    assert.deepEqual(texts, ['', '3', 'thought', 'done']);
    assert.equal((await stream.output).messages.length, 5);

    const asking = new RemoteGraph({ graphId: 'approve', client: s.client as never });
    const thread = { configurable: { thread_id: crypto.randomUUID() } };
    const asked = (await asking.streamEvents(say('?'), { ...thread, version: 'v3' } as never)) as never as {
      output: Promise<unknown>;
      interrupted: boolean;
      interrupts: { payload: unknown }[];
    };
    await asked.output;
    assert.equal(asked.interrupted, true);
    assert.deepEqual(asked.interrupts[0]?.payload, { question: 'Shall I?' });
    const resumed = (await asking.streamEvents(
      new Command({ resume: 'yes' }) as never,
      {
        ...thread,
        version: 'v3',
      } as never,
    )) as never as { output: Promise<{ messages: { content: string }[] }> };
    await resumed.output;
    await s.until(
      ({ type, data }) =>
        type === 'RunCompleted' &&
        data.outcome.kind === 'success' &&
        data.outcome.next.length === 0 &&
        data.threadId === thread.configurable.thread_id,
    );
    const { values } = await s.client.threads.getState<{ messages: { content: string }[] }>(
      thread.configurable.thread_id,
    );
    assert.equal(values.messages.at(-1)?.content, 'The answer was "yes"');
  }));

const newId = (): string => crypto.randomUUID();

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
}

test.run();
