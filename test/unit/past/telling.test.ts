/** Words of verdicts and stories. */
import * as assert from 'node:assert/strict';
import type { Reexecution } from '../../../src/past/reexecution/execute.ts';
import { verdictLines } from '../../../src/past/reexecution/print.ts';
import { wrap } from '../../../src/past/tell/text.ts';
import { suite } from '../../support/suite.ts';

const test = suite('past/telling');

const stack = 'TypeError: no\n    at f (/app/agent.ts:3:5)';
const failed: Partial<Reexecution> = {
  outcome: { kind: 'error', error: 'TypeError', message: 'no', origin: { stack } },
};
const comparison: Reexecution['comparison'] = {
  divergence: { what: 'write', step: 1, node: 'a', channel: 'sum', recorded: 1, found: undefined },
  ...{ checkpoints: 2, writes: 1, frames: undefined },
};
const lines = (more: Partial<Reexecution>): string[] =>
  verdictLines(
    {
      ...{ threadId: 't', runId: '01a217aa-6b44-7000-bcf6-5ad242a54406', graphId: 'adds' },
      ...{ verdict: 'equal', reasons: [], exchanges: 1, comparison },
      ...more,
    },
    1_300,
  ).map((line) => line.replace('run 01a217aa-6b44… of adds: ', ''));

test('a verdict tells whether a run that failed still fails, and what a run fails with that did not', () => {
  assert.deepEqual(lines({}), ['equal (2 checkpoints, 1 call served, 1.3 s)']);
  assert.deepEqual(lines(failed), [
    'equal (2 checkpoints, 1 call served, 1.3 s): fails as it did: TypeError: no',
  ]);
  assert.deepEqual(lines({ verdict: 'different', passesFailure: true }), [
    'mended: it failed and no longer does, 1.3 s',
  ]);
  assert.deepEqual(lines({ ...failed, verdict: 'different' }), [
    'different at step 1, node a, channel sum: 1 → nothing',
    '  it fails with TypeError: no at /app/agent.ts:3:5',
  ]);
});

test('a text with line ends stays below its first line', () => {
  assert.deepEqual(wrap('12:00 failed: no\n\nSee the page', 80, 6), [
    '12:00 failed: no',
    '      See the page',
  ]);
});

test.run();
