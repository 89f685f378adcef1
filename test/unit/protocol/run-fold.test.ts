import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import type { Draft } from '../../../src/protocol/event.ts';
import { openRunFold, type RunEnding } from '../../../src/protocol/run-fold.ts';
import { toTree } from '../../../src/protocol/tree.ts';
import { suite } from '../../support/suite.ts';

const test = suite('protocol/run-fold');

const COMPLETED: RunEnding = { status: 'completed', interrupts: [] };
const ALL_MODES = ['values', 'updates', 'messages-tuple', 'tools', 'custom', 'tasks'];

type Given = [event: string, data: Json];
/** Each event as text: method, namespace, and what its data say. */
function fold(
  frames: readonly Given[],
  ending: RunEnding | undefined = COMPLETED,
  modes = ALL_MODES,
): string[] {
  const run = openRunFold({ graphId: 'graph', modes });
  const drafts = [['metadata', {}] as Given, ...frames].flatMap(([event, data], id) =>
    run.frame({ id, event, data: JSON.stringify(data) }),
  );
  return [...drafts, ...(ending === undefined ? [] : run.end(ending))].map(toText);
}
function toText({ method, namespace, data: given }: Draft): string {
  const data = (typeof given === 'function' ? given() : given) as JsonObject;
  const place = namespace.length === 0 ? '' : ` ${namespace.join('|')}`;
  return `${method}${place}${typeof data['event'] === 'string' ? ` ${data['event']}` : ''}`;
}
const lifecycle = (texts: readonly string[]): string[] =>
  texts.filter((text) => text.startsWith('lifecycle')).map((text) => text.slice('lifecycle'.length).trim());

const task = (id: string, name: string, more: JsonObject = {}): JsonObject => ({
  id,
  name,
  input: {},
  ...more,
});
const result = (id: string, name: string, more: JsonObject = {}): JsonObject => ({
  id,
  name,
  result: {},
  interrupts: [],
  error: null,
  ...more,
});

test("of two concurrent calls of a node only the ended one's subgraph has ended", () => {
  const texts = fold(
    [
      ['values|work:1', { a: 1 }],
      ['values|work:2', { a: 2 }],
      ['updates', { work: { a: 2 } }],
      ['tasks', result('2', 'work')],
      ['values|work:1', { a: 3 }],
      ['tasks', result('1', 'work')],
    ],
    COMPLETED,
  );
  assert.deepEqual(texts, [
    'lifecycle running',
    'lifecycle work:1 started',
    'values work:1',
    'lifecycle work:2 started',
    'values work:2',
    'updates',
    'tasks',
    'lifecycle work:2 completed',
    'values work:1',
    'tasks',
    'lifecycle work:1 completed',
    'lifecycle completed',
  ]);
});

test("a task's result that is no object is wrapped in one", () => {
  const run = openRunFold({ graphId: 'graph', modes: ALL_MODES });
  const told = [6, [1], null, { a: 1 }].flatMap((delta, id) =>
    run.frame({ id, event: 'updates', data: JSON.stringify({ double: delta }) }),
  );
  const data = told
    .filter(({ method }) => method === 'updates')
    .map(({ data: given }) => (typeof given === 'function' ? given() : given));
  assert.deepEqual(data, [{ value: 6 }, { value: [1] }, { value: null }, { a: 1 }]);
});

for (const place of ['a:1', 'a:1|b:2'])
  test(`given a message in the namespace ${place}, when it is told, then it is told of its node`, () => {
    const run = openRunFold({ graphId: 'g', modes: ['messages-tuple'] });
    const metadata = { langgraph_checkpoint_ns: 'a:1|b:2', langgraph_node: 'b' };
    const data = JSON.stringify([{ type: 'ai', id: 'm', content: 'x' }, metadata]);
    run.frame({ id: 0, event: 'metadata', data: '{}' });
    const told = run.frame({ id: 1, event: `messages|${place}`, data });
    const messages = told.filter(({ method }) => method === 'messages');
    assert.ok(messages.length > 0);
    for (const { namespace } of messages) assert.deepEqual(namespace, ['a:1', 'b:2']);
  });

test('given a run without tasks, when updates of its nodes come, then these tell what has ended', () => {
  const texts = fold(
    [
      [
        'messages|a:1',
        [{ type: 'AIMessageChunk', id: 'm', content: 'x' }, { langgraph_checkpoint_ns: 'a:1|b:2' }],
      ],
      ['updates|a:1', { b: {} }],
      ['updates', { a: {} }],
    ],
    COMPLETED,
    ['updates', 'messages-tuple'],
  );
  assert.deepEqual(texts, [
    'lifecycle running',
    'lifecycle a:1 started',
    'lifecycle a:1|b:2 started',
    'messages a:1|b:2 message-start',
    'messages a:1|b:2 content-block-start',
    'messages a:1|b:2 content-block-delta',
    'messages a:1|b:2 content-block-finish',
    'messages a:1|b:2 message-finish',
    'updates a:1',
    'lifecycle a:1|b:2 completed',
    'updates',
    'lifecycle a:1 completed',
    'lifecycle completed',
  ]);
});

test('open subgraphs end with the status of the failed or interrupted run, the innermost first', () => {
  const frames: Given[] = [['values|a:1|b:2', {}]];
  const ends = (ending: RunEnding): string[] => lifecycle(fold(frames, ending)).slice(3);
  assert.deepEqual(ends({ status: 'failed', error: 'why', interrupts: [] }), [
    'a:1|b:2 failed',
    'a:1 failed',
    'failed',
  ]);
  assert.deepEqual(ends({ status: 'interrupted', interrupts: [] }), [
    'a:1|b:2 interrupted',
    'a:1 interrupted',
    'interrupted',
  ]);
});

test('an interrupt in updates, states, tasks and the end is emitted once, where it was raised', () => {
  const asked = { __interrupt__: [{ id: 'q', value: 1 }] };
  const texts = fold(
    [
      ['updates|a:1', asked],
      ['values|a:1', { ...asked, kept: 1 }],
      ['updates', { ...asked, other: {} }],
      ['values', asked],
      ['tasks', result('1', 'a', { interrupts: [{ id: 'q', value: 1 }] })],
    ],
    {
      status: 'interrupted',
      interrupts: [
        { id: 'q', value: 1 },
        { id: 'unseen', value: 2 },
      ],
    },
  );
  assert.deepEqual(texts, [
    'lifecycle running',
    'lifecycle a:1 started',
    'input.requested a:1',
    'values a:1',
    'updates',
    'tasks',
    'input.requested',
    'lifecycle a:1 interrupted',
    'lifecycle interrupted',
  ]);
});

test('after a lost attempt partial messages fail and no start is repeated', () => {
  const half: Given = ['messages', [{ type: 'AIMessageChunk', id: 'm', content: 'x' }, {}]];
  const texts = fold([half, ['metadata', { attempt: 2 }], ['values', {}]]);
  assert.deepEqual(texts, [
    'lifecycle running',
    'messages message-start',
    'messages content-block-start',
    'messages content-block-delta',
    'messages error',
    'values',
    'lifecycle completed',
  ]);
});

test('an agent called by a tool starts with its own name and the causing tool call', () => {
  const run = openRunFold({ graphId: 'graph', modes: ALL_MODES });
  const frame = (id: number, event: string, data: Json): Draft[] =>
    run.frame({ id, event, data: JSON.stringify(data) });
  frame(0, 'metadata', {});
  frame(1, 'tasks', task('t1', 'tools', { input: { tool_call: { id: 'call-1' } } }));
  const [started] = frame(2, 'tasks|tools:t1', task('t2', 'model', { metadata: { lc_agent_name: 'scout' } }));
  assert.deepEqual(started?.data, {
    namespace: ['tools:t1'],
    trigger_call_id: 't1',
    event: 'started',
    graph_name: 'scout',
    cause: { type: 'toolCall', tool_call_id: 'call-1' },
  });
  const [plain] = frame(3, 'values|other:t3', {});
  assert.deepEqual(plain?.data, {
    namespace: ['other:t3'],
    trigger_call_id: 't3',
    event: 'started',
    graph_name: 'other',
  });
  run.end(COMPLETED);
  assert.deepEqual(toTree(run.nodes()), {
    namespace: [],
    status: 'completed',
    graph_name: 'graph',
    children: [
      { namespace: ['other:t3'], status: 'completed', graph_name: 'other' },
      { namespace: ['tools:t1'], status: 'completed', graph_name: 'scout' },
    ],
  });
});

test('events of a tool call are in the namespace of the task that executes it', () => {
  const run = openRunFold({ graphId: 'graph', modes: ALL_MODES });
  const placesOf = (event: string, callId: string): unknown[] =>
    run
      .frame({
        id: 1,
        event,
        data: JSON.stringify({ event: 'on_tool_start', toolCallId: callId, name: 'add' }),
      })
      .flatMap(({ method, namespace }) => (method === 'tools' ? [namespace] : []));
  const note = (event: string, given: Json): unknown =>
    run.frame({ id: 1, event, data: JSON.stringify(given) });
  // Given a task of the root that calls an agent, and a task of that agent that calls a tool.
  note('tasks', task('t1', 'tools', { input: { messages: [], lg_tool_call: { id: 'call-1' } } }));
  note('tasks|tools:t1', task('t2', 'tools', { input: { tool_call: { id: 'call-2' } } }));
  assert.deepEqual(placesOf('tools', 'call-1'), [['tools:t1']]);
  assert.deepEqual(placesOf('tools|tools:t1', 'call-2'), [['tools:t1', 'tools:t2']]);
  // As the runtime told it before 1.7.
  assert.deepEqual(placesOf('tools|tools:t1', 'call-1'), [['tools:t1']]);
  assert.deepEqual(placesOf('tools|tools:t1|tools:t2', 'call-2'), [['tools:t1', 'tools:t2']]);
  assert.deepEqual(placesOf('tools', 'unknown'), [[]]);
  assert.deepEqual(placesOf('tools|tools:t1', 'unknown'), [['tools:t1', 'tools:unknown']]);
});

test('checkpoint events have no state, tool events their phase, and other modes no event', () => {
  const run = openRunFold({ graphId: 'graph', modes: [] });
  const data = (event: string, given: Json): unknown[] =>
    run.frame({ id: 1, event, data: JSON.stringify(given) }).map((draft) => draft.data);
  const full = {
    values: { big: 1 },
    metadata: { step: 3, source: 'loop', more: 1 },
    config: { configurable: { checkpoint_id: 'b' } },
    parent_config: { configurable: { checkpoint_id: 'a' } },
  };
  const note = { id: 'b', parent_id: 'a', step: 3, source: 'loop' };
  assert.deepEqual(data('checkpoints', full), [note]);
  assert.deepEqual(data('checkpoints', note), [note]);
  assert.deepEqual(data('checkpoints', { none: 1 }), []);
  const call = { toolCallId: 'c', name: 'add' };
  assert.deepEqual(data('tools', { event: 'on_tool_start', ...call, input: '{}' }), [
    { event: 'tool-started', tool_call_id: 'c', tool_name: 'add', input: '{}' },
  ]);
  assert.deepEqual(data('tools', { event: 'on_tool_event', ...call, data: { half: 1 } }), [
    { event: 'tool-output-delta', tool_call_id: 'c', delta: '{"half":1}' },
  ]);
  assert.deepEqual(data('tools', { event: 'on_tool_end', ...call, output: 3 }), [
    { event: 'tool-finished', tool_call_id: 'c', output: 3 },
  ]);
  assert.deepEqual(data('tools', { event: 'on_tool_error', ...call, error: { message: 'no' } }), [
    { event: 'tool-error', tool_call_id: 'c', message: 'no' },
  ]);
  for (const silent of ['debug', 'events', 'error', 'messages/partial', 'feedback'])
    assert.deepEqual(data(silent, {}), []);
});

test('S3 a large frame is parsed once for all readers', () => {
  const frame = { id: 1, event: 'custom', data: JSON.stringify({ text: 'x'.repeat(100_000) }) };
  const read = (given: typeof frame) =>
    openRunFold({ graphId: 'graph', modes: ALL_MODES })
      .frame(given)
      .map(({ data }) => (data as JsonObject)['payload']);
  assert.deepEqual(read(frame), [{ text: 'x'.repeat(100_000) }]);
  assert.equal(read(frame)[0], read(frame)[0]);
  assert.notEqual(read({ ...frame })[0], read(frame)[0]);
});

test('a run that answers by id tells so once, behind its beginning, and not with each attempt', () => {
  const run = openRunFold({ graphId: 'graph', modes: ALL_MODES, resumed: ['a', 'b'] });
  const [begin, answered, ...none] = run.frame({ id: 0, event: 'metadata', data: '{}' });
  assert.equal(toText(begin!), 'lifecycle running');
  assert.deepEqual(answered, {
    ...{ method: 'input.answered', namespace: [], data: { interrupt_ids: ['a', 'b'] } },
  });
  assert.deepEqual(none, []);
  assert.deepEqual(run.frame({ id: 7, event: 'metadata', data: '{}' }), []);
});

test.run();
