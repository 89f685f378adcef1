import * as assert from 'uvu/assert';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { StateGraph } from '@langchain/langgraph';
import { openCallLog, type CallLog } from '../../../src/graphs/call-log.ts';
import type { CallRecord } from '../../../src/thread/call-record.ts';
import { suite } from '../../support/suite.ts';
import { openBench } from './harness.ts';
import { Log, START } from './langgraph-harness.ts';

const test = suite('graphs/call-log');

const configAt = (node: string, step = 1) => ({
  metadata: {
    langgraph_step: step,
    langgraph_node: node,
    langgraph_checkpoint_ns: `${node}:id`,
  },
});
const REQUEST = { method: 'POST', url: 'https://user:pass@models.test/v1/chat?key=secret' };

function open(noted = 0): { log: CallLog; sent: CallRecord[] } {
  const sent: CallRecord[] = [];
  const clock = { now: () => 7, monotonic: () => 5, after: () => () => undefined };
  const send = (records: string): void => void sent.push(...(JSON.parse(records) as CallRecord[]));
  return { log: openCallLog({ attempt: 1, noted, clock, send }), sent };
}

test('an answer on the wire belongs to the open call of its task, else it is a call of its own', () => {
  const { log, sent } = open();
  // given
  let config: object = configAt('a');
  log.configOf = () => config;
  const ended = log.began({ kind: 'model', name: 'Chat', config: configAt('a') });
  const inside = log.asked(REQUEST, true);
  config = configAt('b');
  const beside = log.asked(REQUEST, false);
  // when
  beside({ model: 'wired' });
  inside({ tokens: { input: 2, output: 3 }, model: 'wired' });
  ended({});
  log.flush();
  // then
  const noted = { attempt: 1, at: 7, step: 1, kind: 'model', model: 'wired', ms: 0 };
  assert.equal(sent, [
    { ...noted, ns: 'b:id', node: 'b', name: 'models.test/v1/chat' },
    { ...noted, ns: 'a:id', node: 'a', name: 'Chat', usage: { input: 2, output: 3 }, served: true },
  ]);
});

test('a tool whose requests an earlier attempt made is told as served, with its own error (X7)', () => {
  const { log, sent } = open();
  log.configOf = () => configAt('a');
  const ended = log.began({ kind: 'tool', name: 'search', config: configAt('a') });
  log.asked(REQUEST, true)(undefined);
  ended({ error: 'Error: none' });
  log.end();
  const [{ kind, name, error, served } = {} as never] = sent as Extract<CallRecord, { kind: 'tool' }>[];
  assert.equal([kind, name, error, served], ['tool', 'search', 'Error: none', true]);
});

test('a run that prints without end keeps the first prints, its calls, and how many prints are left out', () => {
  const { log, sent } = open();
  for (let line = 0; line < 10_000; line++) log.print('stdout', `${'x'.repeat(5_000)}\n`);
  log.began({ kind: 'tool', name: 'search', config: {} })({});
  log.end();
  const prints = sent.filter(({ kind }) => kind === 'print');
  assert.ok(prints.length > 100);
  assert.ok(JSON.stringify(sent).length < 1_048_576);
  assert.equal(
    sent.slice(prints.length).map(({ kind }) => kind),
    ['tool', 'cut'],
  );
  assert.equal(sent.at(-1), {
    kind: 'cut',
    attempt: 1,
    at: 7,
    ns: '',
    prints: 10_000 - prints.length,
    calls: 0,
  });
  // What earlier attempts have noted counts.
  const later = open(1_048_576);
  later.log.print('stderr', 'more');
  later.log.began({ kind: 'tool', name: 'search', config: {} })({});
  later.log.end();
  assert.equal(
    later.sent.map((record) => record.kind === 'cut' && [record.prints, record.calls]),
    [[1, 1]],
  );
});

test('models that a node and the conditions of START and of a node call are noted, once each', async () => {
  const call = async (name: string): Promise<void> =>
    void (await new FakeListChatModel({ responses: [name] }).withConfig({ runName: name }).invoke('a'));
  const graph = new StateGraph(Log)
    .addNode('a', () => call('of a').then(() => ({ log: ['a'] })))
    .addConditionalEdges('__start__', () => call('of START').then(() => 'a'))
    .addConditionalEdges('a', () => call('behind a').then(() => '__end__'))
    .compile();
  const { noted } = await openBench(graph).run({ input: START });
  const called = noted.map((each) => [each.kind, 'name' in each && each.name]);
  assert.equal(called, [
    ['model', 'of START'],
    ['model', 'of a'],
    ['model', 'behind a'],
  ]);
});

test.run();
