/** Code that did not change executes again with no difference, in whatever order its answers came; a change is named (R3). */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Planted } from '../fixtures/kinds/changes.ts';
import { KINDS } from '../fixtures/kinds/kinds.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { CHANGES } from '../support/value-changes.ts';
import { reexecuted, shown, type Case } from './kinds-of-code.ts';

const test = suite('kinds of code and of changes');

const CONFIG = fileURLToPath(new URL('../fixtures/kinds', import.meta.url));
const FORMS = ['single', 'fan', 'nested', 'functional', 'plain'];
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
console.log(`SEED=${SEED}`);
/** Percentage of all cases that is drawn; `npm run test:long` takes more. */
const SHARE_PERCENT = Number(process.env['KINDS_SHARE'] ?? 2);

const drawn = <T>(cases: readonly T[]): T[] => {
  const random = createRandom(SEED);
  return random.shuffle(cases).slice(0, Math.ceil((cases.length * SHARE_PERCENT) / 100));
};

test('every kind of code, alone and in parallel, is equal', async () => {
  const cases = Object.keys(KINDS).flatMap((kind) =>
    FORMS.map((graph): Case => ({ title: `${graph}: ${kind}`, graph, input: { kind } })),
  );
  // Of the forms of this kind only the first one of a worker loads the module.
  const isLate = ({ title }: Case): boolean => title.endsWith('module that loads late');
  const reports = await reexecuted(
    [...new Set([...cases.filter(isLate), ...drawn(cases)])],
    {},
    { config: CONFIG, seed: SEED },
  );
  assert.deepEqual(reports.filter(({ verdict }) => verdict !== 'equal').map(shown), []);
});

/** Sites of values, with the step and node that a change of them is named by. */
const SITES: Readonly<Record<string, string>> = {
  ...{ write: '1 first', name: '1 first', body: '2 asks', query: '2 asks', put: '3 keeps', frame: '3 keeps' },
  ...{ parallel: '4 fanned', interrupt: ' ends', error: ' ends' },
};
const SPECIAL: Readonly<Record<string, string>> = {
  ...{ 'additional request': '2 asks', 'missing request': '2 asks', 'another method': '2 asks' },
  ...{ 'swapped answers': '2 asks', endless: '', 'missing put': '3 keeps', 'additional put': '3 keeps' },
  ...{ 'another key': '3 keeps', 'missing frame': '3 keeps', 'additional frame': '3 keeps' },
  ...{ 'swapped frames': '3 keeps', 'order of parallel tasks': '4 fanned', 'missing task': '3 keeps' },
  ...{ 'additional draw': '5 draws', time: '5 draws', random: '5 draws' },
  ...{ 'missing element': '6 goes', 'another node': '6 goes', thrown: ' ends', caught: ' ends' },
  ...{ 'additional channel': '7 ends' },
};

test('every planted change is named by its step and node', async () => {
  // given
  const values = Object.keys(SITES).flatMap((site) =>
    CHANGES.filter(([a, b]) => site !== 'name' || String(a) !== String(b)).map(
      ([usual, instead]): Planted => ({ site, usual, instead }),
    ),
  );
  const special = Object.keys(SPECIAL).map((site): Planted => ({ site }));
  const cases = drawn([...values, ...special]).map((planted): Case => ({
    title: JSON.stringify(planted),
    graph: 'changes',
    input: { planted },
  }));
  // when
  const reports = await reexecuted(cases, { PLANTED: 'yes' }, { config: CONFIG, seed: SEED });
  // then
  const wrong = reports.filter(({ title, verdict, comparison, request }) => {
    const { site } = JSON.parse(title) as Planted;
    const { step, node } = comparison?.divergence ?? {};
    const place = request === undefined ? `${String(step)} ${String(node)}` : request.task;
    return verdict !== 'different' || !place.endsWith((SITES[site] ?? SPECIAL[site])!);
  });
  assert.deepEqual(wrong.map(shown), []);
});

test.run();
