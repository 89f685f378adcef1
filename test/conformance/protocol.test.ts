import assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';
import {
  command,
  eventsOf,
  isEnd,
  isRoot,
  nameOf,
  openEvents,
  openThread,
  TRANSPORTS,
  type Event,
  finished,
} from './thread-stream.ts';

const test = suite('protocol: the events of a thread');
const PROTOCOL = { config: config('platform.protocol.json') };

for (const transport of TRANSPORTS)
  test(`client.threads.stream: given a graph with tools and graphs within, when it runs over ${transport}, then the client's projections hold everything`, () =>
    withServer(PROTOCOL, async (s) => {
      const thread = openThread(s, transport, 'crew');
      const messages: unknown[] = [];
      const calls: unknown[] = [];
      const graphs: unknown[] = [];
      const started = thread.run.start({ input: say('hi') });
      const reading = [
        (async () => {
          for await (const message of thread.messages)
            messages.push([message.node, await message.text, (await message.toolCalls).map((c) => c.name)]);
        })(),
        (async () => {
          for await (const call of thread.toolCalls) calls.push([call.name, call.input, await call.output]);
        })(),
        (async () => {
          for await (const graph of thread.subgraphs) graphs.push(graph.name);
        })(),
      ];
      const timeline = (thread.extensions as Record<string, PromiseLike<unknown>>)['timeline']!;
      assert.match((await started).run_id!, /^[0-9a-f-]{36}$/);
      const output = (await thread.output) as { messages: { text: string }[] };
      assert.deepEqual(
        output.messages.map(({ text }) => text),
        ['hi', '', '3', 'thought', 'done'],
      );
      await Promise.all(reading);
      assert.deepEqual(messages, [
        ['plan', '', ['add']],
        ['tools', '3', []],
        ['think', 'thought', []],
        ['answer', 'done', []],
      ]);
      assert.deepEqual(calls[0], ['add', { a: 1, b: 2 }, '3']);
      assert.deepEqual(graphs, ['plan', 'tools', 'team', 'answer']);
      assert.deepEqual(await timeline, { at: 'plan' });
      assert.equal(thread.interrupted, false);
      await thread.close();
    }));

for (const transport of TRANSPORTS)
  test(`client.threads.stream: given two questions, one from within, when both are answered at once over ${transport}, then one run goes on with both`, () =>
    withServer(PROTOCOL, async (s) => {
      const thread = openThread(s, transport, 'panel');
      await thread.run.start({ input: {} });
      await thread.output;
      assert.equal(thread.interrupted, true);
      const asked = thread.interrupts.map(({ payload, namespace }) => [
        (payload as { question: string }).question,
        namespace.map((segment) => segment.split(':')[0]),
      ]);
      assert.deepEqual(asked, [
        ['outer?', []],
        ['inner?', ['child']],
      ]);
      const responses = thread.interrupts.map(({ interruptId, namespace }, i) => ({
        interrupt_id: interruptId,
        namespace,
        response: `answer ${i}`,
      }));
      await thread.input.respond({ responses });
      await s.until(({ type, data }) => type === 'RunCompleted' && data.remaining === 0 && isDone(data));
      const { values } = await s.client.threads.getState<{ answers: string[] }>(thread.threadId);
      assert.deepEqual([...values.answers].sort(), ['inner answer 1', 'outer answer 0']);
      assert.equal((await s.client.runs.list(thread.threadId)).length, 2);
      await thread.close();
    }));

const isDone = ({ outcome }: { outcome?: { kind: string; next?: readonly string[] } }): boolean =>
  outcome?.kind === 'success' && outcome.next?.length === 0;

test('client.threads.stream: given a run, when its state, checkpoints and tree are asked for, then they are those of the thread', () =>
  withServer(PROTOCOL, async (s) => {
    const thread = openThread(s, 'sse', 'crew');
    await thread.run.start({ input: say('hi') });
    await thread.output;
    const state = await thread.state.get({ namespace: [], keys: ['messages'] });
    assert.equal((state.values['messages'] as unknown[]).length, 5);
    const { checkpoints } = await thread.state.listCheckpoints({ limit: 2 });
    assert.equal(checkpoints.length, 2);
    assert.equal(checkpoints[0]?.id, state.checkpoint?.id);
    assert.deepEqual(
      checkpoints.map(({ step }) => step),
      [4, 3],
    );
    const { tree } = await thread.agent.getTree();
    const shape = (node: typeof tree): unknown => [
      node.graph_name,
      node.status,
      ...(node.children ?? []).map(shape),
    ];
    assert.deepEqual(shape(tree), [
      'crew',
      'completed',
      ['answer', 'completed'],
      ['plan', 'completed'],
      ['team', 'completed', ['research', 'completed', ['think', 'completed']]],
      ['tools', 'completed'],
    ]);
    // From the checkpoint after the plan: the second run begins there and not at the end.
    const [plan] = (await thread.state.listCheckpoints({ limit: 10 })).checkpoints.filter(
      ({ step }) => step === 1,
    );
    const fork = await thread.state.fork({ checkpoint_id: plan!.id });
    assert.equal(fork.thread_id, thread.threadId);
    await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === fork.run_id);
    const second = (await eventsOf(s, thread.threadId, { runs: 2 })).slice(1);
    const own = second.slice(second.findIndex((event) => isRoot(event, 'running')));
    const first = own.find(({ method, params }) => method === 'checkpoints' && params.data.step === 3);
    assert.ok(first, own.map(nameOf).join(' '));
    await thread.close();
  }));

test('X3 given a run, when its events are read, then the first is its beginning, the last its one end, and numbers only grow', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    for (const assistant_id of ['crew', 'breaks', 'approve']) {
      const { result } = await command(s, threadId, 'run.start', { assistant_id, input: say('go') });
      await s.until(({ type, data }) => type === 'RunCompleted' && data.runId === result.run_id);
    }
    const events = await eventsOf(s, threadId, { runs: 3 });
    const roots = events.filter(
      ({ method, params }) => method === 'lifecycle' && params.namespace.length === 0,
    );
    assert.deepEqual(
      roots.map(({ params }) => [params.data.graph_name, params.data.event]),
      [
        ['crew', 'running'],
        ['crew', 'completed'],
        ['breaks', 'running'],
        ['breaks', 'failed'],
        ['approve', 'running'],
        ['approve', 'interrupted'],
      ],
    );
    assert.equal(roots[3]?.params.data.error, 'the node broke');
    assert.ok(events.every(({ seq }, i) => i === 0 || seq > events[i - 1]!.seq));
    assert.equal(new Set(events.map(({ event_id }) => event_id)).size, events.length);
    assert.ok(events.every(({ event_id }) => /^(\d+-\d+|synth:[\da-f-]{36}:(lc|input)\|.*)$/.test(event_id)));
    assert.ok(events.every(({ params }) => params.timestamp > 1_700_000_000_000));
    assert.ok(isRoot(events[0]!, 'running') && isEnd(events.at(-1)!));
    // Nothing comes from a graph or node before the news that it has begun, and what has begun also ends.
    const begun = new Set(['']);
    for (const { method, params } of events.slice(0, events.findIndex(isEnd))) {
      const key = params.namespace.join('|');
      if (method === 'lifecycle' && params.data.event === 'started') begun.add(key);
      assert.ok(begun.has(key), `${method} of ${key}`);
    }
    const ends = events.filter(({ params }) => ['started', 'completed'].includes(params.data.event));
    const openEnds = ends.reduce((n, { params }) => n + (params.data.event === 'started' ? 1 : -1), 0);
    assert.equal(openEnds, -1, 'all but the root of the one run that completed');
  }));

test('given a question, when its run is read, then it is asked once, and states hold only the rest', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    await command(s, threadId, 'run.start', { assistant_id: 'panel', input: {} });
    const events = await eventsOf(s, threadId);
    assert.equal(events.filter(({ method }) => method === 'input.requested').length, 2);
    assert.ok(
      events.every(
        ({ method, params }) =>
          !['values', 'updates'].includes(method) || !JSON.stringify(params.data).includes('__interrupt__'),
      ),
    );
    // A graph that waits has not ended before the run has.
    const child = events.findIndex(
      ({ method, params }) => method === 'lifecycle' && params.namespace[0]?.startsWith('child:') === true,
    );
    assert.deepEqual(
      events.slice(-2).map(({ params }) => [params.namespace.length, params.data.event]),
      [
        [1, 'interrupted'],
        [0, 'interrupted'],
      ],
    );
    assert.equal(events[child]?.params.data.event, 'started');
  }));

test('given a run of the other interface, when the thread is read, then it is told with what its frames carry', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    await s.request('POST', `/threads/${threadId}/runs/wait`, {
      assistant_id: 'agent',
      input: say('hi'),
      stream_mode: ['updates', 'messages-tuple'],
      if_not_exists: 'create',
    });
    const events = await eventsOf(s, threadId);
    assert.ok(isRoot(events[0]!, 'running') && isRoot(events.at(-1)!, 'completed'));
    const texts = events
      .filter(({ params }) => params.data.delta?.type === 'text-delta')
      .map(({ params }) => params.data.delta.text);
    assert.deepEqual(texts, [...'begin', 'tool_call__begin', ...'end']);
    assert.equal(
      events.filter(({ params }) => params.data.event === 'message-start').length,
      events.filter(({ params }) => params.data.event === 'message-finish').length,
    );
    assert.deepEqual(
      events.filter(({ method }) => method === 'updates').map(({ params }) => params.node),
      ['agent', 'tool', 'agent'],
    );
  }));

test('given a plain function, when it runs by command, then it has checkpoints, states, messages and chunks', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = crypto.randomUUID();
    await command(s, threadId, 'run.start', { assistant_id: 'steps', input: say('go') });
    const events = await eventsOf(s, threadId);
    const named = events.map(nameOf).filter((name) => !name.startsWith('tasks'));
    assert.deepEqual(named.slice(0, 3), ['lifecycle:running', 'checkpoints', 'values']);
    assert.equal(named.filter((name) => name === 'custom').length, 3);
    assert.deepEqual(
      events
        .filter(({ params }) => params.data.event === 'content-block-finish')
        .map(({ params }) => params.data.content.text),
      ['step 1', 'step 2', 'step 3'],
    );
    const reader = await openEvents(s, threadId, { channels: ['custom'] });
    const [first] = await reader.until(() => true);
    assert.deepEqual(first?.params.data, { payload: { step: 1 } });
    reader.leave();
  }));

const newId = (): string => crypto.randomUUID();

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

test.run();
