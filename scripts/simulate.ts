/**
 * `npm run simulate -- <count> [seed] [servers]`: runs simulations of the domain from the seed on, or from a random one,
 * of one server or of several on one store. Stops at the first broken invariant, prints how to repeat it, and exits 1.
 */
import { describeFailure, simulate } from '../test/simulation/simulate.ts';

const [count = 1_000, seed = Math.floor(Math.random() * 2 ** 32), servers = 1] = process.argv
  .slice(2)
  .map(Number);
if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed) || seed < 0) {
  console.error('usage: npm run simulate -- <count> [seed] [servers]');
  process.exit(2);
}
console.log(`SEED=${seed}`);
let lives = 0;
const { steps, faults, failed } = await simulate(
  seed,
  count,
  () => {
    lives += 1;
    if (lives % 1_000 === 0) console.log(`${lives} lives`);
  },
  servers,
);
console.log(`${lives} lives, ${steps} steps`);
console.log(JSON.stringify(faults, undefined, 2));
if (failed !== undefined) {
  console.error(describeFailure(failed, count === 1 ? Infinity : 60));
  process.exitCode = 1;
}
