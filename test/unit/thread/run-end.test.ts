import * as assert from 'node:assert/strict';
import type { Outcome } from '../../../src/thread/events.ts';
import { runEndOf, type RunEnd, type RunError } from '../../../src/thread/run-end.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/run-end');

const BEGUN = { attempt: 1, head: 'c' };
const NEVER = { attempt: 0, head: 'c' };
const failed = { error: 'E', message: 'm' };
const refused: RunError = {
  ...failed,
  ...{ reason: 'not_pending', interrupt_ids: ['a'], pending_ids: ['b'] },
};
const late = { error: 'TimeoutError', message: 'late' };
const stopped = { error: 'UserInterrupt', message: 'why' };
const undone = { error: 'UserRollback', message: 'why' };
const success = (next: string[]): Outcome => ({ kind: 'success', next, interrupts: {} });
const cancelled = (next?: string[]): Outcome => ({ kind: 'cancelled', reason: 'why', ...(next && { next }) });
const back: Outcome = { kind: 'rolled-back', reason: 'why' };

type Row = [
  RunEnd['run'],
  RunEnd['webhook'],
  RunEnd['thread'],
  RunEnd['error'],
  isTold: boolean,
  isFrame: boolean,
];

test('every outcome has one meaning for run, webhook, thread, error and stream (X3)', () => {
  const cells: [
    name: string,
    outcome: Outcome,
    end: typeof BEGUN | { attempt: number; head: null },
    row: Row,
  ][] = [
    ['done', success([]), BEGUN, ['success', 'success', 'idle', null, true, false]],
    ['paused', success(['a']), BEGUN, ['success', 'success', 'interrupted', null, true, false]],
    ['failed', { kind: 'error', ...failed }, BEGUN, ['error', 'error', 'error', failed, true, true]],
    [
      'answer refused',
      {
        kind: 'error',
        ...failed,
        refusal: { reason: 'not_pending', interruptIds: ['a'], pendingIds: ['b'] },
      },
      BEGUN,
      ['error', 'error', 'as-before', refused, false, true],
    ],
    ['late', { kind: 'timeout', message: 'late' }, BEGUN, ['timeout', 'timeout', 'error', late, true, true]],
    [
      'cancelled, nodes left',
      cancelled(['a']),
      BEGUN,
      ['interrupted', 'interrupted', 'interrupted', stopped, true, false],
    ],
    ['cancelled, done', cancelled([]), BEGUN, ['interrupted', 'interrupted', 'idle', stopped, true, false]],
    [
      'cancelled, no word',
      cancelled(),
      BEGUN,
      ['interrupted', 'interrupted', 'interrupted', stopped, true, false],
    ],
    [
      'cancelled, nothing saved',
      cancelled(),
      { attempt: 1, head: null },
      ['interrupted', 'interrupted', 'idle', stopped, true, false],
    ],
    [
      'cancelled while pending',
      cancelled(),
      NEVER,
      ['interrupted', 'interrupted', 'as-before', stopped, false, false],
    ],
    ['rolled back', back, BEGUN, ['interrupted', 'rollback', 'as-before', undone, true, false]],
    [
      'rolled back while pending',
      back,
      NEVER,
      ['interrupted', 'rollback', 'as-before', undone, false, false],
    ],
  ];
  for (const [name, outcome, at, [run, webhook, thread, error, isTold, isFrame]] of cells)
    assert.deepEqual(runEndOf(outcome, at), { run, webhook, thread, error, isTold, isFrame }, name);
});

test.run();
