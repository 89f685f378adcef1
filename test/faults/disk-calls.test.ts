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
  'every group of commits has one sync; whichever call fails or is the last one, what was acknowledged is there and asking again does it once (L1, L4, P2)',
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
      // The first ones open the file and make its tables: then nothing was acknowledged yet.
      const kth = (name: string, from: number): { call: string; k: number } => ({
        call: name,
        k: random.int(from, whole.calls.filter((call) => call.name === name).length),
      });
      const sample: Fault[] = [
        { ...kth('fsync', 6), effect: 'error=EIO', once: true },
        { ...kth('pwrite64', 60), effect: 'error=ENOSPC', once: false },
        { ...kth('pwrite64', 1), effect: 'signal=KILL', once: true },
        { ...kth('ftruncate', 1), effect: 'error=EIO', once: true },
      ];
      const codes: (number | null)[] = [];
      for (const [i, fault] of sample.entries()) {
        const data = join(dir, `${i}`, 'data');
        const played = await play(data, fault);
        codes.push(played.code);
        assert.equal(await problemsAfter(data, played), [], nameOf(fault));
      }
      assert.ok(codes.includes(70), `no commit failed: ${codes}`);
    }),
  { lacking: straceLacking() },
);

test.run();
