import * as assert from 'uvu/assert';
import { seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withPrograms } from '../e2e/programs.ts';
import { torture } from './torture/rounds.ts';

const test = suite('kill', { timeoutMs: 180_000 });

test('kill -9 at random moments under mixed load breaks no promise (L1, L3, X1, X3, X5, S1, S2, W1, W2, P2)', () =>
  withPrograms(async (programs) => {
    const { problems, summary } = await torture({ programs, kills: 8, seed: seedFromEnv() });
    console.log(JSON.stringify(summary));
    assert.equal(problems, []);
    assert.ok(summary['runs']! > 20 && summary['streams']! > 5 && summary['webhooks']! > 5);
    assert.ok(summary['changes']! > 10);
  }));

test.run();
