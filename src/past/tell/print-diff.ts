/** Prints the comparison of two runs for people. */
import type { Json } from '../../kernel/json.ts';
import type { ComparedRun, ComparedStep, RunDiff, StateDifference } from './run-diff.ts';
import { stepText } from './summary.ts';
import { durationText, shortId, valueText } from './text.ts';

/** Width of one side of the table. */
const SIDE_WIDTH = 34;
const LABEL_WIDTH = 9;
const TOOK_WIDTH = 9;
/** Longer values are cut; `--json` prints all of them. */
const MAX_VALUE_CHARACTERS = 400;

export function printDiff(diff: RunDiff, print: (line: string) => void): void {
  const sides = (label: string, of: (run: ComparedRun) => string): void =>
    print(row(label, of(diff.a), of(diff.b)));
  print(row('', 'a', 'b'));
  sides('run', ({ run_id }) => shortId(run_id));
  sides('thread', ({ thread_id }) => shortId(thread_id));
  sides('graph', ({ graph_id }) => graph_id);
  sides('status', ({ status, attempts }) => (attempts > 1 ? `${status}, attempt ${attempts}` : status));
  sides('took', ({ took_ms }) => (took_ms === null ? 'unknown' : durationText(took_ms)));
  sides('tokens', ({ tokens }) =>
    tokens === null ? 'none' : `${tokens.total} (${tokens.input} in, ${tokens.output} out)`,
  );
  print('');
  for (const [index, pair] of diff.steps.entries())
    print(row(markOf(pair, index, diff.first), stepCell(pair.a), stepCell(pair.b)));
  print('');
  if (diff.first === null) return print('equal: the same steps led to the same state');
  printFirst(diff.first, diff, print);
  const rest = diff.state.filter(({ path }) => path !== diff.first?.difference?.path);
  if (rest.length > 0) print('also different at the end:');
  for (const difference of rest) printDifference(difference, print);
}

const row = (label: string, a: string, b: string): string =>
  `${label.padEnd(LABEL_WIDTH)}${a.padEnd(SIDE_WIDTH)}  ${b}`.trimEnd();

/** States are compared up to the first divergence; behind it only the steps are. */
function markOf({ a, b }: RunDiff['steps'][number], index: number, first: RunDiff['first']): string {
  if (a === null) return '+';
  if (b === null) return '-';
  if (first === null || first.what === 'end') return '=';
  if (first.index === null) return ' ';
  if (index < first.index) return '=';
  return index === first.index ? '≠' : ' ';
}

function stepCell(step: ComparedStep | null): string {
  if (step === null) return '';
  const took = step.took_ms === null ? '' : durationText(step.took_ms);
  return `${stepText(step.step, step).padEnd(SIDE_WIDTH - TOOK_WIDTH)}${took.padStart(TOOK_WIDTH)}`;
}

function printFirst(
  { what, index, difference }: NonNullable<RunDiff['first']>,
  diff: RunDiff,
  print: (line: string) => void,
): void {
  const pair = index === null ? undefined : diff.steps[index];
  const step = pair?.a ?? pair?.b;
  const name = step && stepText(step.step, step);
  const place = {
    input: 'the input',
    state: `the state after ${name}`,
    step: `${name} is a step of ${pair?.a === null ? 'b' : 'a'} alone`,
    end: `the end: a ${endOf(diff.a)}, b ${endOf(diff.b)}`,
  }[what];
  print(`first divergence: ${place}`);
  if (difference !== null) printDifference(difference, print);
}

const endOf = ({ status, error }: ComparedRun): string => (error === null ? status : `${status} (${error})`);

function printDifference({ path, a, b }: StateDifference, print: (line: string) => void): void {
  if (path !== '') print(`  ${path}`);
  print(`    a  ${shown(a)}`);
  print(`    b  ${shown(b)}`);
}

const shown = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : valueText(value, MAX_VALUE_CHARACTERS);
