/** A few of the calls of a fixed list of commits fail; `npm run torture:disk` makes every one of them fail. */
import * as assert from 'uvu/assert';
import { join } from 'node:path';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { nameOf, play, problemsAfter, type Fault } from './disk/every-call.ts';
import { isSync, straceLacking } from './disk/strace.ts';

const test = suite('disk calls');

test(
  'L1 L4 P2 one sync per group of commits; acknowledged commits survive whichever disk call fails',
  () =>
    withTempDir(async (dir) => {
      const whole = await play(join(dir, 'whole', 'data'));
      assert.is(whole.code, 0, whole.output);
      const synced = whole.calls.filter((call) => isSync(call) && call.file === 'log.db-wal').length;
      // Of each round: creation, four of the run, ten creations at once, an item; of every other round a deletion.
      const groups = 4 * 7 + 2;
      assert.ok(synced >= groups, `${synced} syncs for ${groups} groups of commits`);
      assert.ok(synced < groups + 4 * 9, `${synced} syncs: commits of one moment shared none`);

      const random = createRandom(seedFromEnv());
      const calls = (name: string): number => whole.calls.filter((call) => call.name === name).length;
      const writes = calls('pwrite64');
      // After those that open the file, and before the last ones: whatever commit comes next fails.
      const whileAtWork = random.int(writes >> 2, writes - (writes >> 2));
      const full: Fault = { call: 'pwrite64', k: whileAtWork, effect: 'error=ENOSPC', once: false };
      const sample: Fault[] = [
        full,
        { call: 'fsync', k: random.int(6, calls('fsync')), effect: 'error=EIO', once: true },
        { call: 'pwrite64', k: random.int(1, writes), effect: 'signal=KILL', once: true },
        { call: 'ftruncate', k: random.int(1, calls('ftruncate')), effect: 'error=EIO', once: true },
      ];
      for (const [i, fault] of sample.entries()) {
        const data = join(dir, `${i}`, 'data');
        const played = await play(data, fault);
        if (fault === full) assert.is(played.code, 75, `a full disk failed no commit: ${nameOf(fault)}`);
        assert.equal(await problemsAfter(data, played), [], nameOf(fault));
      }
    }),
  { lacking: straceLacking() },
);

test.run();
