/**
 * `npm run torture:disk [-- --every 10 --from 3]`: the long form of test/faults/disk-calls.test.ts. For every write,
 * sync and truncation of the workload (or every 10th, from the 3rd on) three runs follow: the call fails once, it
 * fails from then on, and the process dies at it. Exits 1 when an invariant breaks.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nameOf, play, problemsAfter, type Fault } from '../test/faults/disk/every-call.ts';
import { LOG_CALLS, straceLacking } from '../test/faults/disk/strace.ts';
import { withTempDir } from '../test/support/temp-dir.ts';

const EFFECTS = ['signal=KILL', 'error=EIO', 'error=ENOSPC'] as const;

const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' }, from: { type: 'string', default: '1' } },
});
const [every, from] = [Number(values.every), Number(values.from)];

const lacking = straceLacking();
if (lacking !== undefined) throw new Error(lacking);

let played = 0;
let broken = 0;
const codes = new Map<number | null, number>();
const { calls } = await withTempDir((dir) => play(join(dir, 'data')));
for (const call of LOG_CALLS) {
  const count = calls.filter(({ name }) => name === call).length;
  console.log(`${call}: ${count} calls`);
  for (let k = from; k <= count; k += every)
    for (const effect of EFFECTS)
      for (const once of effect === 'signal=KILL' ? [true] : [true, false]) {
        const fault: Fault = { call, k, effect, once };
        const problems = await withTempDir(async (dir) => {
          const result = await play(join(dir, 'data'), fault);
          codes.set(result.code, (codes.get(result.code) ?? 0) + 1);
          return problemsAfter(join(dir, 'data'), result);
        });
        played += 1;
        for (const problem of problems) console.error(`${nameOf(fault)}: ${problem}`);
        if (problems.length > 0) broken += 1;
      }
}
console.log(`${played} faults, ${broken} broke a promise; ended with ${JSON.stringify([...codes])}`);
process.exitCode = broken === 0 ? 0 : 1;
