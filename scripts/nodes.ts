/**
 * `npm run torture:nodes -- [--rounds 20] [--seed 7] [--case killed] [--races 50] [--release FOLDER]`: three servers on one
 * PostgreSQL, under load, and what may happen to them; all cases of `test/faults/nodes/cases.ts` unless one is named. With
 * `--release` the second server is that of another folder. Exits with 1 when an invariant is broken.
 */
import { parseArgs } from 'node:util';
import { CASES } from '../test/faults/nodes/cases.ts';
import { withCluster } from '../test/faults/nodes/cluster.ts';
import { runRounds, type Figures } from '../test/faults/nodes/rounds.ts';
import { withWebhookSink } from '../test/support/webhook-sink.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    case: { type: 'string', multiple: true, default: Object.keys(CASES) },
    races: { type: 'string', default: '50' },
    release: { type: 'string' },
  },
});
const [rounds, seed, races] = [values.rounds, values.seed, values.races].map(Number) as [
  number,
  number,
  number,
];
console.log(`--rounds ${rounds} --seed ${seed} --races ${races}`);

await withWebhookSink((sink) =>
  withCluster({ release: values.release }, async (cluster) => {
    for (const name of values.case) {
      let begun = Date.now();
      const all = await runRounds({
        ...{ cluster, sink, name, rounds, seed, races },
        onRound({ problems, ...figures }) {
          console.log(`${name} ${JSON.stringify({ ...figures, ms: Date.now() - begun })}`);
          begun = Date.now();
          for (const problem of problems) console.error(`  ${problem.slice(0, 2_000)}`);
        },
      });
      const sum = (of: (figures: Figures) => number): number =>
        all.reduce((total, each) => total + of(each), 0);
      const takeovers = all.flatMap((figures) => figures.takeovers).sort((a, b) => a - b);
      const problems = sum((figures) => figures.problems.length);
      const [half, most] = [takeovers[takeovers.length >> 1], takeovers.at(-1)];
      console.log(
        `${name}: ${rounds} rounds, ${sum(({ runs }) => runs)} runs, ${sum(({ repeated }) => repeated)} requests again, ` +
          `${takeovers.length} taken over${most === undefined ? '' : ` after p50 ${half} ms, at most ${most} ms`}, ` +
          `${problems} problems`,
      );
      if (problems > 0) process.exitCode = 1;
    }
  }),
);
