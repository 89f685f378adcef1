import assert from 'node:assert/strict';
import { ask, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { toRunning, withThreads, type TestThreads } from './with-threads.ts';

const test = suite('actors/last-frames');

const NESTED = ['team:1', 'team:1|leaf:2'];
const told = (event: string, ...places: string[]) =>
  places.map((place) => ({
    event: `lifecycle|${place}`,
    data: JSON.stringify({ event, namespace: place.split('|') }),
  }));

/** A run in the mode `lifecycle` that has told of a graph and one within that, with whatever frames come after. */
async function toNested(lent: TestThreads): Promise<() => Promise<[string, Record<string, unknown>][]>> {
  const kwargs = { input: null, config: {}, streamMode: ['lifecycle'], streamSubgraphs: false };
  await lent.done(toRunning('a', { kwargs }));
  const frames = [{ event: 'metadata', data: '{}' }, ...told('started', ...NESTED)];
  await lent.done(ask.save('a', 'c1'), {
    payloads: [{ kind: 'frames', runId: 'a', threadId: THREAD, first: 0, frames }],
  });
  return async () => {
    const all = await lent.log.payloads.frames('a', -1, 100);
    assert.deepEqual(
      all.map(({ id }) => id),
      all.map((_, index) => index),
    );
    return all.slice(frames.length).map(({ event, data }) => [event, JSON.parse(data)]);
  };
}

test('X3 S1 a run that no executor ends has the ends of its graphs, innermost first, then its error', () =>
  withThreads(async (lent) => {
    const last = await toNested(lent);
    await lent.done(ask.abandon('a', 1));
    const error = {
      error: 'Lost',
      message: 'Run a was charged with 1 of 1 allowed deaths of its process (PLATFORM_MAX_ATTEMPTS): lost',
    };
    assert.deepEqual(await last(), [
      ...NESTED.toReversed().map((place) => [
        `lifecycle|${place}`,
        { event: 'failed', namespace: place.split('|'), error },
      ]),
      ['error', error],
    ]);
  }));

test('X3 S1 a begun run that is cancelled while it waits has the ends of its graphs, and told once', () =>
  withThreads(async (lent) => {
    const last = await toNested(lent);
    await lent.done(ask.requeue('a'));
    assert.deepEqual(await last(), []);
    await lent.done(ask.cancel('a'));
    assert.deepEqual(
      (await last()).map(([event, data]) => [event, data['event']]),
      NESTED.toReversed().map((place) => [`lifecycle|${place}`, 'interrupted']),
    );
  }));

test('a begun run that is rolled back or deleted with its thread leaves no frames', () =>
  withThreads(async (lent) => {
    const last = await toNested(lent);
    await lent.done(ask.requeue('a'));
    await lent.done(ask.cancel('a', 'rollback'));
    assert.deepEqual(await last(), []);
    await lent.done(ask.deleteThread());
    assert.equal(
      lent.behind((db) => db.prepare('SELECT count(*) FROM frames').pluck().get()),
      0,
    );
  }));

test.run();
