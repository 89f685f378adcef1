import * as assert from 'node:assert/strict';
import { runMatrix, STYLES } from '../isolation/matrix.ts';
import { styled } from '../isolation/served.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('conformance: a sample of the matrix of strangers');

/** Of some four thousand in each style; `npm run isolation` asks all of them. */
const CASES = Number(process.env['ISOLATION_CASES'] ?? 50);
const SOCKETS = Number(process.env['ISOLATION_SOCKETS'] ?? 3);
const MAX_STYLES = Number(process.env['ISOLATION_STYLES'] ?? 3);
const seed = seedFromEnv();

test("A1 A3 given handlers of some styles, when strangers of all kinds ask for what is alice's, then it is as missing and nothing happens", async () => {
  const random = createRandom(seed);
  for (const style of random.shuffle(STYLES).slice(0, MAX_STYLES))
    await withServer(styled(style), async (s) => {
      const { requests, problems } = await runMatrix(s, { random, most: CASES, mostSockets: SOCKETS });
      assert.deepEqual(problems, [], `${style}, SEED=${seed}`);
      assert.ok(requests > CASES / 2, `${requests}`);
    });
});

test.run();
