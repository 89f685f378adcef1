import * as assert from 'uvu/assert';
import { openFrameSink } from '../../../src/graphs/frame-sink.ts';
import { openRpc } from '../../../src/graphs/pool/rpc.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/rpc');

/** Lets `work` happen while the methods of lists and tables, and their entries, are those of graph code. */
function whileReplaced(work: () => void): unknown[] {
  const seen: unknown[] = [];
  const note = (list: unknown): unknown =>
    Object.defineProperty(seen, seen.length, { value: list, writable: true });
  const { push } = Array.prototype;
  const { get, set } = Map.prototype;
  const spy = (method: (...given: never[]) => unknown) =>
    function (this: unknown, ...given: never[]) {
      note(this);
      return Reflect.apply(method, this, given);
    };
  Array.prototype.push = spy(push);
  Map.prototype.get = spy(get);
  Map.prototype.set = spy(set) as typeof set;
  Object.defineProperty(Array.prototype, 0, { set: spy(() => undefined), configurable: true });
  try {
    work();
  } finally {
    delete Array.prototype[0];
    Array.prototype.push = push;
    Object.assign(Map.prototype, { get, set });
  }
  return seen;
}

test('X4 given graph code that replaces methods for a moment, when a worker has something to say, then that code is not handed what others wait to say', async () => {
  const said: unknown[] = [];
  const rpc = openRpc((batch) => said.push(...batch), {});
  const sink = openFrameSink(
    async (frames) => void said.push(...frames),
    () => undefined,
  );
  let answer: Promise<string> | undefined;
  const seen = whileReplaced(() => {
    rpc.note('pass', 1);
    answer = rpc.call('load', 2);
    rpc.receive([['tell', 1, 'answered']]);
    sink.push('values', '{}');
  });
  assert.equal(seen, []);
  assert.is(await answer, 'answered');
  await sink.flush();
  assert.equal(said, [['ask', 0, 'pass', [1]], ['ask', 1, 'load', [2]], { event: 'values', data: '{}' }]);
});

test('given calls under way, when the channel is closed, then they and all later ones reject', async () => {
  const rpc = openRpc(() => undefined, {});
  const calls = [rpc.call('load', 1), rpc.call('load', 2)];
  rpc.close(new Error('it is over'));
  const told = await Promise.allSettled([...calls, rpc.call('load', 3)]);
  assert.equal(
    told.map((each) => each.status === 'rejected' && (each.reason as Error).message),
    ['it is over', 'it is over', 'it is over'],
  );
});

test.run();
