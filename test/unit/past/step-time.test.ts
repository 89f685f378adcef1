import * as assert from 'node:assert/strict';
import { stepTime } from '../../../src/past/steps.ts';
import { suite } from '../../support/suite.ts';

const test = suite('past/steps: the time of a step');

const START = Date.UTC(2026, 0, 1);

function idAt(ms: number): string {
  const hex = (START + ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Of a checkpoint that is saved 100 ms after the start of its attempt. */
const timeOf = (made: number, parent: number | null): number | undefined => {
  const parentId = parent === null ? null : idAt(parent);
  const saved = { ns: '', step: 1, source: 'loop', checkpointId: idAt(made), parentId };
  return stepTime(saved, START + 100, START);
};

test('a step takes the time since the checkpoint before it, or since the start of its attempt', () => {
  assert.equal(timeOf(90, 60), 30);
  assert.equal(timeOf(90, -5_000), 90);
  assert.equal(timeOf(90, null), 90);
});

test('given a machine whose clock is behind that of the log, then a step has a time, the attempt at most', () => {
  assert.equal(timeOf(-500, -530), 30);
  assert.equal(timeOf(-500, -5_000), 100);
  assert.equal(timeOf(-500, null), undefined);
});

test.run();
