import * as assert from 'node:assert/strict';
import { withPrograms } from '../e2e/programs.ts';
import { seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { killWebhooks } from './torture/webhooks.ts';

const runs = Number(process.env['WEBHOOK_RUNS'] ?? 100);
const test = suite('kill: webhooks', { timeoutMs: 300_000 + runs * 1_000 });

/** The long form: `WEBHOOK_RUNS=2000 [SEED=n] node --import tsx test/faults/webhooks-kill.test.ts`. */
test('W1 W2 every webhook arrives signed, with one id and the same bytes, though the server is killed', () =>
  withPrograms(async (programs) => {
    const { problems, summary } = await killWebhooks({ programs, runs, seed: seedFromEnv() });
    console.log(JSON.stringify(summary));
    assert.deepEqual(problems, []);
    assert.ok(summary['kills']! > 0 && summary['posts']! > summary['webhooks']!);
    assert.ok(summary['webhooks']! >= runs / 2);
  }));

test.run();
