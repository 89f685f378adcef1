import assert from 'node:assert/strict';
import { shareTurns } from '../../../src/kernel/turn.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel/turn');

test('S3 tasks that share turns proceed in order, one per turn of the event loop', async () => {
  const inTurn = shareTurns();
  const done: string[] = [];
  let open = true;
  const others = (): void => {
    done.push('others');
    if (open) setImmediate(others);
  };
  setImmediate(others);
  const parts = ['1', '2', '3', '4', '5'];
  await Promise.all(
    parts.map(async (part) => {
      await inTurn();
      done.push(part);
    }),
  );
  open = false;
  assert.deepEqual(
    done.filter((who) => who !== 'others'),
    parts,
  );
  parts.forEach((part, i) => {
    if (i > 0) assert.equal(done[done.indexOf(part) - 1], 'others', done.join(' '));
  });
});

test.run();
