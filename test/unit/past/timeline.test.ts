import assert from 'node:assert/strict';
import { toTimestamp } from '../../../src/kernel/clock.ts';
import { stateAt } from '../../../src/past/travel/state.ts';
import { timelineOf, detailsOf } from '../../../src/past/tell/timeline.ts';
import { ask, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';
import { withThreads } from '../actors/with-threads.ts';
import { OTHER, withPast } from './with-past.ts';

const test = suite('past/timeline');

test('R2 a timeline has every event with the state before and after, and the webhooks', () =>
  withPast(async ({ past, clock }) => {
    const entries = await past((history) => timelineOf(history, THREAD));
    assert.deepEqual(
      entries.map(({ type, before, after }) => `${type} ${before === null ? '-' : `${before}>${after}`}`),
      [
        ...['ThreadCreated absent>idle', 'RunCreated idle>queued', 'RunStarted queued>running'],
        ...['CheckpointSaved running>running', 'RunRequeued running>queued', 'RunStarted queued>running'],
        ...['RunCreated running>running', 'CheckpointSaved running>running', 'RunCompleted running>queued'],
        ...['WebhookOwed -', 'ThreadUpdated queued>queued', 'RunStarted queued>running'],
        ...['RunCancelRequested running>stopping', 'RunCompleted stopping>idle', 'WebhookAttemptFailed -'],
        ...['WebhookDelivered -'],
      ],
    );
    const positions = entries.map(({ position }) => position);
    assert.deepEqual(
      positions,
      [...positions].sort((a, b) => a - b),
    );
    const summaries = entries.map(({ summary }) => summary).join('\n');
    for (const text of [
      'run 1 of graph (a), input {"q":1}',
      'run 1 attempt 1 was lost: ',
      'run 1 started again, attempt 2',
      'run 1 failed after 2.0 s in node "think", step 3: E: broken',
      'run 2 paused before ask after 2.0 s, asks "?"',
      ': refused',
    ])
      assert.ok(summaries.includes(text), text);
    assert.deepEqual(entries.flatMap(detailsOf), ['at think (/graph.ts:1:2)']);
    assert.equal(entries.at(-1)?.time, toTimestamp(clock.now() - 1_000));
    const until = await past((history) => timelineOf(history, THREAD, positions[4]));
    assert.deepEqual(until, entries.slice(0, 5));
    assert.equal((await past((history) => timelineOf(history, OTHER))).length, 2);
    assert.deepEqual(await past((history) => timelineOf(history, 'nobody')), []);
  }));

test('L3 R2 given a deleted thread, when it is replayed, then the tombstone is all there is', () =>
  withThreads(async ({ done, past, log }) => {
    await done([ask.createThread(), ask.createRun('a')]);
    await done(ask.deleteThread());
    const [tombstone] = await log.readAll(0, 10);
    await past(async (history) => {
      assert.deepEqual(
        (await timelineOf(history, THREAD)).map(({ type, before, after }) => [type, before, after]),
        [['ThreadDeleted', 'absent', 'deleted']],
      );
      assert.equal(await stateAt(history, THREAD, tombstone!.meta.position), undefined);
    });
  }));

test('a story names the caller of what was asked for, and not of what followed in the same commit', () =>
  withThreads(async ({ threads, done, past }) => {
    await threads.dispatch(THREAD, [ask.createThread(), ask.createRun('a'), ask.start('a')], { by: 'ann' });
    await done(ask.updateThread({ k: 1 }));
    const lines = (await past((history) => timelineOf(history, THREAD))).map(({ summary }) => summary);
    assert.deepEqual(
      lines.map((line) => / by \w+$/.exec(line)?.[0]),
      [' by ann', ' by ann', undefined, undefined],
    );
  }));

test.run();
