import assert from 'node:assert/strict';
import type { Json } from '../../../src/kernel/json.ts';
import { redact } from '../../../src/thread/redact.ts';
import { isLiving } from '../../../src/thread/state.ts';
import { titleOf } from '../../../src/thread/title.ts';
import { ask, fact, given } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/title');

const messages = (...list: Json[]): Json => ({ messages: list });
const human = (content: Json): Json => ({ type: 'human', content });

test('a title is the first human text of the input, in any form that graphs take', () => {
  const forms: [Json, string | undefined][] = [
    [messages(human('hi')), 'hi'],
    [messages({ role: 'system', content: 's' }, { role: 'user', content: 'hi' }, human('later')), 'hi'],
    [messages(['user', 'hi']), 'hi'],
    [messages('hi'), 'hi'],
    [{ messages: human('hi') }, 'hi'],
    [{ messages: 'hi' }, 'hi'],
    [
      messages(
        human([
          { type: 'image_url', image_url: 'x' },
          { type: 'text', text: 'hi' },
        ]),
      ),
      'hi',
    ],
    [messages({ lc: 1, type: 'constructor', id: ['m', 'HumanMessage'], kwargs: { content: 'hi' } }), 'hi'],
    [messages(human('  '), human(' two\n\n lines\0 ')), 'two lines'],
    [messages(human(`${'🙂'.repeat(100)}`)), '🙂'.repeat(80)],
    [messages(human(`a\ud800`)), 'a\ufffd'],
    [messages({ type: 'ai', content: 'no' }, { id: 1 }, null, 7, [[]]), undefined],
    [{ messages: {} }, undefined],
    ...([null, 'text', [], {}, 1] as Json[]).map((input): [Json, undefined] => [input, undefined]),
  ];
  for (const [input, title] of forms) assert.equal(titleOf(input, {}), title, JSON.stringify(input));
});

test('a metadata key title wins over the input unless it is no text', () => {
  assert.equal(titleOf(messages(human('hi')), { title: ' Trip  to Ulm ' }), 'Trip to Ulm');
  for (const title of ['', ' ', 7, null, ['x']])
    assert.equal(titleOf(messages(human('hi')), { title }), 'hi');
});

const SAID = {
  kwargs: { input: messages(human('hi')), config: {}, streamMode: [], streamSubgraphs: false },
};

test('the first run with a title gives it, and the next one only after that run is deleted', () => {
  // given: a run without a text, then one with a text
  const first = given(fact.created(), fact.runCreated('a')).when(ask.createRun('b', 'enqueue', SAID));
  const [event] = first.events;
  assert.ok(event?.type === 'RunCreated' && event.data.title === 'hi');
  // when another one is created, then it has none
  const second = given(fact.created(), event).when(ask.createRun('c', 'enqueue', SAID)).events[0];
  assert.ok(second?.type === 'RunCreated' && second.data.title === undefined);
  // when the run that gave the title is deleted, then the next one gives a title, and no title is left in the log
  const gone = [fact.created(), event, fact.completed('b'), fact.runDeleted('b')];
  const third = given(...gone).when(ask.createRun('c', 'enqueue', SAID)).events[0];
  assert.ok(third?.type === 'RunCreated' && third.data.title === 'hi');
  assert.doesNotMatch(JSON.stringify(redact(event, new Set(['b']))), /"hi"/);
  assert.ok(isLiving(given(...gone).state) && !JSON.stringify(given(...gone).state).includes('hi'));
  // when that run is pruned, then the title stays
  const pruned = given(fact.created(), event, fact.completed('b')).when(ask.pruneThread(['b']));
  assert.equal(pruned.events[0]?.type === 'ThreadPruned' && pruned.events[0].data.title, 'hi');
});

test('a stateless run gives its thread no title', () => {
  const [event] = given(fact.created({}, true)).when(ask.createRun('a', 'reject', SAID)).events;
  assert.ok(event?.type === 'RunCreated' && event.data.title === undefined);
});

test.run();
