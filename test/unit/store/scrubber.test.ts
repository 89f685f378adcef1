import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { batch, committed } from '../../support/batches.ts';
import { createRandom, seedFromEnv, type Random } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, scrubber');

/** In no order of their keys: SQLite has to split pages again and again. */
const secretsOf = (random: Random) =>
  Array.from({ length: 600 }, (_, n) => ({
    kind: 'secret' as const,
    threadId: 't',
    runId: `${random.int(0, 1_000_000)}-${n}`,
    data: `canary-${n}-`.padEnd(random.int(20, 700), 'x'),
  }));
const inTwenties = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: all.length / 20 }, (_, n) => all.slice(n * 20, n * 20 + 20));

/** How many of the texts the file has any part of. */
function leftOf(dir: string, secrets: readonly { readonly data: string }[]): number {
  const file = readFileSync(join(dir, LOG_FILE));
  return secrets.filter(({ data }) => file.includes(data.slice(0, data.indexOf('-', 7) + 1))).length;
}

test('A4 L3 no byte of erased rows that moved between pages stays, and others are whole', () => {
  const seed = seedFromEnv();
  const random = createRandom(seed);
  console.log(`seed ${seed}`);
  return withLog(
    async ({ log, dir, clock, behind }) => {
      const write = async (payloads: PayloadWrite[]): Promise<void> =>
        void committed(await log.commit(batch([], { payloads })));
      const secrets = secretsOf(random);
      for (const some of inTwenties(secrets)) await write(some);
      const gone = secrets.filter((_, n) => n % 2 === 0);
      await write(gone.map(({ runId }) => ({ kind: 'erase-secret', runId }) as const));
      await clock.advance(600);
      // The pages are cleaned in slices of the event loop; the suite's time limit ends a wait for nothing.
      while (leftOf(dir, gone) > 0) await new Promise((resolve) => setImmediate(resolve));
      for (const [n, { runId, data }] of secrets.entries())
        assert.equal(await log.payloads.secret(runId), n % 2 === 0 ? undefined : data);
      behind((db) => assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]));
    },
    { projection: fakeProjection() },
  );
});

test('A4 L3 an erasure right before the close is gone from the file after it', () =>
  withLog(
    async ({ log, dir, reopen }) => {
      const secrets = secretsOf(createRandom(7));
      for (const some of inTwenties(secrets)) committed(await log.commit(batch([], { payloads: some })));
      const gone = secrets.filter((_, n) => n % 2 === 0);
      const erased = gone.map(({ runId }) => ({ kind: 'erase-secret', runId }) as const);
      committed(await log.commit(batch([], { payloads: erased })));
      await reopen();
      assert.equal(leftOf(dir, gone), 0);
    },
    { projection: fakeProjection() },
  ));

test.run();
