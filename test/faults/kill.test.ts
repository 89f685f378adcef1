import * as assert from 'uvu/assert';
import { seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withPrograms } from '../e2e/programs.ts';
import { torture } from './torture/rounds.ts';

const test = suite('kill', { timeoutMs: 600_000 });

const LEAST = 6;
/** Times that the whole is done, at most. */
const MOST = 4;

test('kill -9 at random moments under mixed load (L1, L3, X1, X3, X5, S1, S2, W1, W2, P2)', async () => {
  const seed = seedFromEnv();
  const seen: Record<string, number> = { runs: 0, streams: 0, webhooks: 0, changes: 0 };
  // A seed may kill so early each time that there was little to break.
  for (let more = 0; more < MOST && Object.values(seen).some((count) => count < LEAST); more++) {
    const { problems, summary } = await withPrograms((programs) =>
      torture({ programs, kills: 8, seed: seed + more }),
    );
    console.log(JSON.stringify(summary));
    assert.equal(problems, []);
    for (const what of Object.keys(seen)) seen[what]! += summary[what]!;
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count >= LEAST, `${count} ${what}`);
});

test.run();
