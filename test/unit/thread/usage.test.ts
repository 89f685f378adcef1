import * as assert from 'uvu/assert';
import { evolve, initial, openRun, type ThreadState } from '../../../src/thread/state.ts';
import type { ThreadEvent } from '../../../src/thread/events.ts';
import { completed } from '../../../src/thread/end-facts.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/usage');

const run = { threadId: 't', runId: 'r' };
const USAGE = { calls: 1, inputTokens: 2, outputTokens: 3 };
const saved = (ns: string, more: object): ThreadEvent =>
  ({
    type: 'CheckpointSaved',
    data: { ...run, attempt: 1, checkpointId: 'c', parentId: null, ns, step: 1, source: 'loop', ...more },
  }) as ThreadEvent;
const fold = (...events: readonly object[]): ThreadState =>
  events.reduce((state: ThreadState, event) => evolve(state, event as ThreadEvent), initial);

test('the next attempt knows what the run used up to its last root checkpoint, and an end without a count tells it', () => {
  const state = fold(
    { type: 'ThreadCreated', data: { threadId: 't', metadata: {}, temporary: false } },
    { type: 'RunCreated', data: { ...run, threadMetadata: {}, notBefore: 0 } },
    { type: 'RunStarted', data: { ...run, attempt: 1, leaseId: 'l' } },
    saved('', { usage: USAGE }),
    saved('inner', {}),
    { type: 'RunRequeued', data: { ...run, attempt: 1, reason: '', lost: true, deaths: 1, charges: 0 } },
    { type: 'RunStarted', data: { ...run, attempt: 2, leaseId: 'm' } },
  );
  assert.equal(openRun(state, 'r')?.usage, USAGE);
  const end = (more = {}) =>
    completed(state as Parameters<typeof completed>[0], 'r', { kind: 'timeout', message: '' }, more).data;
  assert.equal((end() as { usage?: object }).usage, USAGE);
  assert.equal((end({ usage: { ...USAGE, calls: 2 } }) as { usage?: object }).usage, { ...USAGE, calls: 2 });
});

test.run();
