import assert from 'node:assert/strict';
import { openArrivals } from '../../../src/recording/arrivals.ts';
import { insideSession } from '../../../src/recording/session.ts';
import { interceptTimers } from '../../../src/recording/timers.ts';
import { suite } from '../../support/suite.ts';
import { play, record } from './sessions.ts';

const test = suite('order of arrivals');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('arrivals come in the order of their numbers, whatever is asked for first', async () => {
  const order: number[] = [];
  const arrivals = openArrivals({ numbers: [3, 1, 2, 2], patienceMs: 50, onStalled: () => undefined });
  const all = [3, 2, 1].map(
    (number) =>
      new Promise<void>((resolve) =>
        arrivals.expect(number, () => {
          order.push(number);
          resolve();
        }),
      ),
  );
  await Promise.all(all);
  assert.deepEqual(order, [1, 2, 3]);
});

test('an arrival that is dropped, or never asked for, does not hold up the others for ever', async () => {
  const arrivals = openArrivals({ numbers: [1, 2, 3], patienceMs: 50, onStalled: () => undefined });
  arrivals.open();
  arrivals.drop([1]);
  await new Promise<void>((resolve) => arrivals.expect(3, resolve));
  // The order has gone on without the second.
  await new Promise<void>((resolve) => arrivals.expect(2, resolve));
  arrivals.close();
});

test('a run that waits for nothing that can come is told', async () => {
  await new Promise<void>((resolve) => {
    const arrivals = openArrivals({
      ...{ numbers: [1], patienceMs: 20 },
      onStalled() {
        arrivals.close();
        resolve();
      },
    });
    arrivals.open();
  });
});

test('timers fire in the recorded order without waiting; one that had not fired never does', async () => {
  interceptTimers();
  // given
  const { parts, recorder } = record();
  const seen: string[] = [];
  const start = (name: string, ms: number): NodeJS.Timeout => setTimeout(() => void seen.push(name), ms);
  const late = insideSession(recorder, () => {
    start('second', 4);
    start('first', 1);
    const ticks = setInterval(() => {
      seen.push('tick');
      if (seen.length >= 4) clearInterval(ticks);
    }, 6);
    return start('late', 60_000);
  });
  while (seen.length < 4) await turn();
  clearTimeout(late);
  recorder.end();
  const recorded = seen.splice(0);
  // when
  const { player } = play(parts);
  await insideSession(player, async () => {
    const slow = start('late', 60_000);
    start('first', 1);
    start('second', 4);
    const ticks = setInterval(() => void seen.push('tick'), 6);
    while (seen.length < recorded.length) await turn();
    clearInterval(ticks);
    assert.equal(slow.hasRef(), true);
  });
  player.close();
  // then
  assert.deepEqual(seen, recorded);
});

test('what had not settled when the recording ended stays open', async () => {
  // given
  const { parts, recorder } = record();
  const request = { method: 'GET', url: 'http://model/' };
  const exchange = recorder.open(request)!;
  exchange.answered(200, 'OK', []);
  exchange.received(Buffer.from('half'));
  recorder.end();
  // when
  const { player } = play(parts);
  const calls: string[] = [];
  const note = (name: string) => () => void calls.push(name);
  player.reply(request, new Uint8Array(), {
    ...{ head: note('head'), data: note('data'), completed: note('completed'), failed: note('failed') },
  });
  for (let at = 0; at < 200; at++) await turn();
  // then
  assert.deepEqual(calls, ['head', 'data']);
});

test.run();
