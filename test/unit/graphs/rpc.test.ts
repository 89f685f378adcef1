import * as assert from 'uvu/assert';
import { openRpc } from '../../../src/graphs/pool/rpc.ts';
import { suite } from '../../support/suite.ts';

const test = suite('graphs/rpc');

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
