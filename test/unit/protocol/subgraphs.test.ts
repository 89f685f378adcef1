import assert from 'node:assert/strict';
import type { Json } from '../../../src/kernel/json.ts';
import { openRunFold } from '../../../src/protocol/run-fold.ts';
import { openSubgraphFrames, openSubgraphLedger } from '../../../src/protocol/subgraph-frames.ts';
import { suite } from '../../support/suite.ts';

const test = suite('protocol: graphs within a run');

interface Text {
  readonly event: string;
  readonly data: string;
}
const toWords = ({ event, data }: Text): string =>
  event.startsWith('lifecycle|')
    ? `${event.slice('lifecycle|'.length)} ${(JSON.parse(data) as { event: string }).event}`
    : event;
const told = (event: string, place: string): Text => ({
  event: `lifecycle|${place}`,
  data: JSON.stringify({ event, namespace: place.split('|') }),
});

/** What one attempt's chunks become: frames of the mode `lifecycle`, and the name of each chunk in its place. */
function attempt(...chunks: readonly [place: string, mode: string, payload?: unknown][]): Text[] {
  const frames = openSubgraphFrames();
  return chunks.flatMap(([place, mode, payload]) => {
    const namespace = place === '' ? [] : place.split('|');
    const event = [mode, ...namespace].join('|');
    return [
      ...frames.before(namespace, mode),
      { event, data: 'null' },
      ...frames.after(namespace, mode, payload),
    ];
  });
}
const result = (name: string, id: string, more: object = {}) => ({
  ...{ name, id, result: {}, interrupts: [], error: null },
  ...more,
});

/** The same facts told to readers of the thread. */
function folded(frames: readonly [event: string, data: Json][], status: 'completed' | 'failed'): string[] {
  const fold = openRunFold({ graphId: 'graph', modes: ['tasks'] });
  const drafts = frames.flatMap(([event, data], id) => fold.frame({ id, event, data: JSON.stringify(data) }));
  return [...drafts, ...fold.end({ status, interrupts: [] })]
    .filter(({ method, namespace }) => method === 'lifecycle' && namespace.length > 0)
    .map(({ namespace, data }) => {
      const { event, error } = data as { event: string; error?: string };
      return `${namespace.join('|')} ${event}${error === undefined ? '' : ` ${error}`}`;
    });
}

test('a graph begins with its first chunk, also of a graph within it, and ends with its task', () => {
  const frames = attempt(
    ['', 'tasks', { name: 'team', id: '1', input: {} }],
    ['team:1', 'values'],
    ['team:1|leaf:2', 'updates'],
    ['team:1', 'tasks', result('leaf', '2')],
    ['team:1', 'values'],
    ['', 'tasks', result('other', '1')],
    ['', 'tasks', result('team', '1')],
  );
  assert.deepEqual(frames.map(toWords), [
    'tasks',
    ...['team:1 started', 'values|team:1', 'team:1|leaf:2 started', 'updates|team:1|leaf:2'],
    ...['tasks|team:1', 'team:1|leaf:2 completed', 'values|team:1', 'tasks'],
    ...['tasks', 'team:1 completed'],
  ]);
});

test('pieces of messages and events of tools begin no graph: their namespace may be that of a node', () => {
  const frames = attempt(['model:1', 'messages'], ['tools:2', 'tools'], ['model:1', 'custom']);
  assert.deepEqual(frames.map(toWords), [
    ...['messages|model:1', 'tools|tools:2', 'model:1 started', 'custom|model:1'],
  ]);
});

test('the tool call of a task is told in each form in which tool nodes get it', () => {
  for (const input of [{ lg_tool_call: { id: 'c' } }, { tool_call: { id: 'c' } }, [{ id: 'c', name: 'n' }]]) {
    const [, begun] = attempt(['', 'tasks', { name: 'tools', id: '1', input }], ['tools:1', 'values']);
    assert.deepEqual(JSON.parse(begun!.data), {
      event: 'started',
      namespace: ['tools:1'],
      tool_call_id: 'c',
    });
  }
  for (const input of [{ lg_tool_call: {} }, { messages: [] }, [], null, 'text', undefined]) {
    const [, begun] = attempt(['', 'tasks', { name: 'tools', id: '1', input }], ['tools:1', 'values']);
    assert.deepEqual(JSON.parse(begun!.data), { event: 'started', namespace: ['tools:1'] });
  }
});

test('a graph whose task failed has failed with its error, in the forms of runtime and frames', () => {
  for (const error of [new RangeError('bad'), { name: 'RangeError', message: 'bad' }]) {
    const frames = attempt(['team:1', 'values'], ['', 'tasks', result('team', '1', { error })]);
    assert.deepEqual(JSON.parse(frames.at(-1)!.data), {
      ...{ event: 'failed', namespace: ['team:1'] },
      error: { error: 'RangeError', message: 'bad' },
    });
  }
  const error = { error: 'RangeError', message: 'bad' };
  const words = folded(
    [
      ['metadata', {}],
      ['values|team:1', {}],
      ['tasks', result('team', '1', { error })],
    ],
    'failed',
  );
  assert.deepEqual(words, ['team:1 started', 'team:1 failed bad']);
});

test('before langgraph 1.7 a task without result may have failed, so its graph ends with the run', () => {
  const { error: _, ...old } = result('team', '1');
  const words = (given: Json): string[] =>
    folded(
      [
        ['metadata', {}],
        ['values|team:1', {}],
        ['tasks', given],
        ['updates', {}],
      ],
      'failed',
    );
  assert.deepEqual(words(old), ['team:1 started', 'team:1 failed']);
  assert.deepEqual(words({ ...old, result: [] }), ['team:1 started', 'team:1 failed']);
  assert.deepEqual(words({ ...old, result: { notes: [] } }), ['team:1 started', 'team:1 completed']);
});

test('S1 what a later attempt tells again is left out, and what it left behind ends as interrupted', () => {
  // Given an attempt that was lost while two leaves of a team worked, of which one had ended.
  const earlier = [
    ...['team:1', 'team:1|a:2', 'team:1|b:3'].map((place) => told('started', place)),
    told('completed', 'team:1|a:2'),
  ];
  const ledger = openSubgraphLedger([
    earlier[0]!,
    { event: 'values|team:1', data: '{}' },
    ...earlier.slice(1),
  ]);
  // When the next one runs the team with another leaf.
  const frames = [
    ...['team:1', 'team:1|a:2', 'team:1|c:4'].map((place) => told('started', place)),
    { event: 'values|team:1|c:4', data: '{}' },
    ...['team:1|a:2', 'team:1|c:4'].map((place) => told('completed', place)),
  ].flatMap(ledger.admit);
  // Then only what is new comes, and the leaf that nobody entered again has not completed.
  assert.deepEqual(frames.map(toWords), [
    ...['team:1|c:4 started', 'values|team:1|c:4', 'team:1|c:4 completed'],
  ]);
  const ends = ['team:1|b:3 interrupted', 'team:1 completed'];
  assert.deepEqual(ledger.ends('completed').map(toWords), ends);
  assert.deepEqual(ledger.admit(told('completed', 'team:1')).map(toWords), ends);
  assert.deepEqual([ledger.ends('completed'), ledger.admit(told('failed', 'team:1'))], [[], []]);
});

test('S1 readers of the thread are told the same of an attempt that was lost', () => {
  const words = folded(
    [
      ['metadata', {}],
      ['values|team:1', {}],
      ['values|team:1|b:3', {}],
      ['metadata', {}],
      ['values|team:1', {}],
      ['values|team:1|c:4', {}],
      ['tasks', result('team', '1')],
    ],
    'completed',
  );
  assert.deepEqual(words, [
    ...['team:1 started', 'team:1|b:3 started', 'team:1|c:4 started'],
    ...['team:1|b:3 interrupted', 'team:1|c:4 completed', 'team:1 completed'],
  ]);
});

test.run();
