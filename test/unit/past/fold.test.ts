import assert from 'node:assert/strict';
import type { Recorded } from '../../../src/store/port/events.ts';
import { foldThread } from '../../../src/past/fold.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { fact, THREAD } from '../../support/given.ts';
import { suite } from '../../support/suite.ts';

const test = suite('past/fold');

/** Which of the events, one after the other, the machine does not allow. */
function impossibleOf(...events: readonly ThreadEvent[]): boolean[] {
  const fold = foldThread();
  const meta = { stream: `thread-${THREAD}` } as Recorded['meta'];
  return events.map((event) => fold.step({ ...event, meta } as Recorded<ThreadEvent>).impossible);
}

test('a thread begins with its creation, its copy or its tombstone; any other first event is damage (R2)', () => {
  const deleted: ThreadEvent = { type: 'ThreadDeleted', data: { threadId: THREAD } };
  for (const [event, isImpossible] of [
    [fact.created(), false],
    [fact.copied('other'), false],
    [deleted, false],
    [fact.updated({ a: 1 }), true],
    [fact.runCreated('a'), true],
  ] as const)
    assert.deepEqual(impossibleOf(event), [isImpossible], event.type);
  // Nothing follows a tombstone.
  assert.deepEqual(impossibleOf(deleted, deleted), [false, true]);
  assert.deepEqual(impossibleOf(deleted, fact.updated({ a: 1 })), [false, true]);
});

test.run();
