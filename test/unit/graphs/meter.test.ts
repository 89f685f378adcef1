import * as assert from 'uvu/assert';
import { openMeter, type Meter } from '../../../src/graphs/meter.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/meter');

interface Handler {
  handleLLMStart(model: unknown, prompts: unknown, id: string): void;
  handleLLMEnd(result: object, id: string): void;
}
const handlerOf = ({ handler }: Meter): Handler => handler as Handler;
const open = (options: Partial<Parameters<typeof openMeter>[0]> = {}): Meter =>
  openMeter({ used: undefined, budget: { calls: 100 }, elapsed: () => 0, ...options });
const reported = (input: number, output: number): object => ({
  generations: [[{ message: { usage_metadata: { input_tokens: input, output_tokens: output } } }]],
});

test('a call of the library counts once, from its answer on the wire or else from what the library reports', () => {
  const meter = open();
  const { handleLLMStart: start, handleLLMEnd: end } = handlerOf(meter);
  // On the wire, with the numbers that the library reports; then with others.
  start({}, [], 'a');
  meter.answered({ tokens: { input: 10, output: 5 } });
  end(reported(10, 5), 'a');
  start({}, [], 'b');
  meter.answered({ tokens: { input: 1, output: 1 } });
  end(reported(9, 9), 'b');
  assert.equal(meter.usage(), { calls: 2, inputTokens: 11, outputTokens: 6 });
  // Only in the process; an answer from before its beginning is another call's.
  meter.answered({ tokens: { input: 100, output: 1 } });
  start({}, [], 'c');
  end(reported(3, 3), 'c');
  start({}, [], 'd');
  end({}, 'd');
  assert.equal(meter.usage(), { calls: 5, inputTokens: 114, outputTokens: 10, unreported: 1 });
});

test('of parallel calls each gets the answer with its numbers', () => {
  const meter = open();
  const { handleLLMStart: start, handleLLMEnd: end } = handlerOf(meter);
  for (const id of ['inside', 'wired']) start({}, [], id);
  meter.answered({ tokens: { input: 10, output: 5 } });
  end(reported(10, 5), 'wired');
  end(reported(2, 2), 'inside');
  assert.equal(meter.usage(), { calls: 2, inputTokens: 12, outputTokens: 7 });
});

test('a later attempt counts on from the one before, calls and seconds', () => {
  let now = 50;
  const used = { calls: 2, inputTokens: 8, outputTokens: 1, ms: 700 };
  const meter = open({ used, budget: { tokens: 20, seconds: 1 }, elapsed: () => now });
  assert.is(meter.reached(), undefined);
  meter.answered({ tokens: { input: 5, output: 5 } });
  now += 200;
  assert.equal(meter.usage(), { calls: 3, inputTokens: 13, outputTokens: 6, ms: 900 });
  assert.is(meter.reached(), undefined);
  now += 100;
  assert.is(meter.reached(), 'The run used 1 of 1 seconds');
  meter.answered({ tokens: { input: 1, output: 0 } });
  assert.is(meter.reached(), 'The run used 20 of 20 tokens');
});

test('a run that used nothing has no usage, and none without a limit of calls or tokens has a handler', () => {
  assert.is(open().usage(), undefined);
  assert.is(open({ budget: undefined }).handler, undefined);
  assert.is(open({ budget: { seconds: 1 } }).handler, undefined);
});

test.run();
