/**
 * `npm test [-- stage...]`: starts the stages in order, all of them even after a failure, prints a line for each check
 * and test file as it ends, the whole output of those that failed, and at the very end `N passed, N failed`. A file that exits
 * with an error, is killed after its time, or prints no totals counts as a failure; so does a skipped test, unless it
 * names what this machine lacks: that is printed, and such a test is neither passed nor failed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runChild, type ChildResult } from './run-child.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** Why tests were skipped, a line each. */
  readonly skipped: readonly string[];
}

/** Resolved here, so that the runner also works in a directory without dependencies. */
const NODE = ['--import', import.meta.resolve('tsx')];
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const CHECKS: Record<string, readonly [command: string, ...args: string[]]> = {
  format: ['node_modules/.bin/prettier', '--check', '.'],
  types: ['node_modules/.bin/tsc', '--noEmit'],
  layers: [process.execPath, ...NODE, script('layers.ts')],
  titles: [process.execPath, ...NODE, script('titles.ts')],
};
const TEST_STAGES = ['unit', 'model', 'conformance', 'faults', 'e2e'];
const STAGES = [...Object.keys(CHECKS), ...TEST_STAGES];
const AT_ONCE = 2;

async function runStages(stages: readonly string[], signal: AbortSignal, timeoutMs: number): Promise<Counts> {
  const total = { passed: 0, failed: 0, skipped: [] as string[] };
  const report = (name: string, counts: Counts, result: ChildResult): void => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped.push(...counts.skipped);
    const outcome = counts.failed > 0 ? 'FAIL' : 'ok  ';
    const fate = result.timedOut ? `, killed after ${timeoutMs} ms` : '';
    console.log(
      `${outcome} ${name}: ${counts.passed} passed, ${counts.failed} failed, ${result.ms} ms${fate}`,
    );
    for (const line of counts.skipped) console.log(`    ${line}`);
    if (counts.failed > 0) console.log(result.output.trimEnd().replace(/^/gm, '    | '));
  };

  const runCheck = async (name: string): Promise<void> => {
    const [command, ...args] = CHECKS[name]!;
    const result = await runChild(command, args, { timeoutMs, signal });
    const passed = result.code === 0 ? 1 : 0;
    report(name, { passed, failed: 1 - passed, skipped: [] }, result);
  };
  const runFile = async (file: string): Promise<void> => {
    const result = await runChild(process.execPath, [...NODE, file], { timeoutMs, signal });
    report(file, countTests(result), result);
  };

  const jobs = stages.flatMap((stage) =>
    stage in CHECKS ? [() => runCheck(stage)] : listTests(stage).map((file) => () => runFile(file)),
  );
  const lane = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined && !signal.aborted; job = jobs.shift()) await job();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return total;
}

function listTests(stage: string): string[] {
  const folder = `test/${stage}`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

/** What uvu's totals say, and at least one failure when they cannot be the whole truth. */
function countTests({ code, timedOut, output }: Pick<ChildResult, 'code' | 'timedOut' | 'output'>): Counts {
  const read = (label: string): number =>
    Number([...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)$`, 'gm'))].at(-1)?.[1] ?? 0);
  const total = read('Total');
  const passed = read('Passed');
  const skipped = output.match(/^skipped ".*": .+$/gm) ?? [];
  const failed = total - passed + Math.max(0, read('Skipped') - skipped.length);
  const broken = code !== 0 || timedOut || total + skipped.length === 0;
  return { passed, failed: Math.max(failed, broken ? 1 : 0), skipped };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((stage) => !STAGES.includes(stage));
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

  if (unknown.length > 0) console.log(`unknown stage ${unknown.join(', ')}; there are ${STAGES.join(', ')}`);
  const stages =
    unknown.length > 0 ? [] : STAGES.filter((stage) => asked.length === 0 || asked.includes(stage));
  const timeoutMs = Number(process.env['TEST_FILE_TIMEOUT_MS'] ?? 600_000);
  const { passed, failed, skipped } = await runStages(stages, stopping.signal, timeoutMs);
  process.exitCode = failed > 0 || passed === 0 || stopping.signal.aborted ? 1 : 0;
  if (skipped.length > 0) console.log(`${skipped.length} skipped, for the reasons printed with them`);
  console.log(`${passed} passed, ${failed} failed`);
}
