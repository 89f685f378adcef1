import * as assert from 'uvu/assert';
import { stepVersions } from '../../../src/graphs/langgraph/step-versions.ts';
import { suite } from '../../support/suite.ts';
import { ids } from './harness.ts';

const test = suite('langgraph versions of a step');

test('channels of one step get one version, those of the next step another', () => {
  const next = stepVersions(ids).bind(undefined);
  const first = next(undefined);
  assert.is(next(undefined), first);
  const second = next(first);
  assert.ok(second > first);
  assert.is(next(first), second);
  assert.is.not(next(undefined), first);
});

test('P3 two runs from one checkpoint give a changed channel different versions', () => {
  const versions = stepVersions(ids);
  const [one, other] = [versions.bind(undefined), versions.bind(undefined)];
  assert.is.not(one('7'), other('7'));
  assert.is.not(versions('7'), versions('7'));
});

test.run();
