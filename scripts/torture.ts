/**
 * `npm run torture -- [kills] [seed]` (default 50 kills), or with `--kills` and `--seed`: the long form of
 * test/faults/kill.test.ts. On a broken invariant it exits 1 and keeps the data directory.
 */
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withPrograms } from '../test/e2e/programs.ts';
import { torture } from '../test/faults/torture/rounds.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kills: { type: 'string' }, seed: { type: 'string' } },
});
const [givenKills = '50', givenSeed] = positionals;
const kills = Number(values.kills ?? givenKills);
const seed = Number(values.seed ?? givenSeed ?? Math.floor(Math.random() * 2 ** 32));
console.log(`--kills ${kills} --seed ${seed}`);

await withPrograms(async (programs) => {
  const onRound = (round: number, ms: number): void => console.log(`round ${round}: killed after ${ms} ms`);
  const { problems, summary } = await torture({ programs, kills, seed, insisters: 3, onRound });
  for (const problem of problems) console.error(problem);
  console.log(JSON.stringify(summary));
  if (problems.length === 0) return;
  const kept = await mkdtemp(join(tmpdir(), 'torture-'));
  await cp(programs.dir, kept, { recursive: true });
  console.error(`${problems.length} broken promises, see ${kept}`);
  process.exitCode = 1;
});
