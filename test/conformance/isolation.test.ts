import * as assert from 'node:assert/strict';
import { runMatrix, STYLES } from '../isolation/matrix.ts';
import { styled } from '../isolation/served.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('conformance: a sample of the matrix of strangers');

/** Of some four thousand in each style; `npm run isolation` asks all of them. The first style has all of bob's. */
const CASES = Number(process.env['ISOLATION_CASES'] ?? 50);
const SOCKETS = Number(process.env['ISOLATION_SOCKETS'] ?? 3);
const MAX_STYLES = Number(process.env['ISOLATION_STYLES'] ?? 3);
const seed = seedFromEnv();
const random = createRandom(seed);
const OTHER_STYLES = STYLES.filter((style) => style !== 'globalExact');

for (const [index, style] of ['globalExact', ...random.shuffle(OTHER_STYLES)].slice(0, MAX_STYLES).entries())
  test(`A1 A3 strangers of all kinds find everything of alice's missing and change nothing, style ${index}`, () =>
    withServer(styled(style), async (s) => {
      const options = { random, most: CASES, mostSockets: SOCKETS, allOfBob: index === 0 };
      const { requests, problems } = await runMatrix(s, options);
      assert.deepEqual(problems, [], `${style}, SEED=${seed}`);
      assert.ok(requests > (index === 0 ? 400 : CASES / 2), `${requests}`);
    }));

test.run();
