/**
 * `npm test [-- stage or file...]`: runs the stages in order, all of them even after a failure. Prints failed tests at
 * once, one line per check and test file, the output of failed ones, and finally `N passed, N failed`. Time limits are
 * scaled by how slow the machine is when a process starts. A file that exits with an error, times out
 * or prints no totals counts as a failure. So does a skipped test, unless it names what the machine lacks; such a test
 * counts as neither. The stages `long` and `postgres-all` run only when named (`npm run test:long`, `test:postgres`).
 * Files of the stages `postgres` and `postgres-all` are those of other stages, with servers on PostgreSQL.
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild } from './run-child.ts';
import { failedTests, finalResults, resultsOf, type Counts, type FileResult } from './test-output.ts';
import { isOnPostgres, POSTGRES_STAGES } from './test-postgres.ts';
import { measureTimeScale, TIME_SCALE } from './time-scale.ts';

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const CHECKS: Record<string, readonly [command: string, ...args: string[]]> = {
  format: ['node_modules/.bin/prettier', '--check', '--cache', '--cache-strategy', 'content', '.'],
  types: [process.execPath, script('types.ts')],
  layers: [process.execPath, script('layers.ts')],
  lint: ['node_modules/.bin/oxlint', '--type-aware', 'src', 'scripts', 'test'],
  unused: ['node_modules/.bin/knip', '--include', 'exports,types,files,dependencies,unlisted'],
  titles: [process.execPath, script('titles.ts')],
};
/** Maximum number of files per process. Stages that observe processes and memory use 1. */
const FILES_PER_PROCESS: Record<string, number> = {
  unit: 20,
  model: 1,
  conformance: 16,
  projects: 1,
  faults: 1,
  e2e: 1,
  browser: 4,
  postgres: 6,
  long: 1,
  'postgres-all': 12,
};
/** Files that take or wait longest. They start first: shorter ones keep all processes busy until the end. */
const LONGEST_FILES: readonly string[] = [
  'test/faults/misbehaving-neighbours.test.ts',
  'test/e2e/reexecution.test.ts',
  'test/projects/agents.test.ts',
  'test/projects/graphs.test.ts',
  'test/projects/apps.test.ts',
  'test/e2e/dev.test.ts',
  'test/projects/strict-resume.test.ts',
  'test/faults/misbehaving-graphs.test.ts',
  'test/faults/hostile-clients.test.ts',
  'test/faults/fault-attribution.test.ts',
  'test/faults/kill.test.ts',
];
/** Stages that run only when named use this PostgreSQL; all others use the newest one. */
const OLDEST_POSTGRES = 15;
/** Files of these stages share a PostgreSQL, which has a database for each of them. */
const WITH_POSTGRES: ReadonlySet<string> = new Set(['unit', 'conformance', 'faults', 'e2e', 'long']);
/** Stages that run only when named. */
const ON_DEMAND: ReadonlySet<string> = new Set(['long', 'postgres-all']);
const NOTHING: Counts = { passed: 0, failed: 0, skipped: [] };
const STAGES = [...Object.keys(CHECKS), ...Object.keys(FILES_PER_PROCESS)];
/** Their temporary folders lie in memory, where a sync costs nothing: they start hundreds of servers, each with a log. */
const IN_MEMORY: ReadonlySet<string> = new Set([
  ...['unit', 'model', 'conformance', 'projects', 'postgres', 'postgres-all'],
]);
const MEMORY = '/dev/shm';
/** A container may have given it no more than some megabytes. */
const MIN_MEMORY_BYTES = 2 * 2 ** 30;
/** Concurrent processes: two more than cores, since tests wait for about a quarter of their time. */
const MAX_PROCESSES = Number(process.env['TEST_LANES'] ?? availableParallelism() + 2);
/** Node's compile cache, shared by all test processes: compiling takes half of a start. */
const COMPILE_CACHE = fileURLToPath(new URL('../test/.cache/compiled', import.meta.url));
/** Files in temporary folders leave entries that are never used again. */
const MAX_COMPILED_FILES = 20_000;
/** Time limit of a file or check on a usual machine. */
const FILE_TIMEOUT_MS = Number(process.env['TEST_FILE_TIMEOUT_MS'] ?? 600_000);
/** Minimum of processes for a stage with enough files, so that no process runs long alone at the end. */
const MIN_PROCESSES = 8;

const HELP = `npm test                          everything but the long tests
npm test -- STAGE...              some stages: ${STAGES.join(', ')}
npm test -- FILE...               single files, such as test/unit/cron/decide.test.ts
SEED=N npm test -- FILE           a random test again, with the seed that it printed
TEST_STORE=postgres npm test -- FILE...   single files, with servers on PostgreSQL

TEST_LANES=N                      concurrent processes (${MAX_PROCESSES})
TEST_FILE_TIMEOUT_MS=N            time limit of a file on a usual machine (${FILE_TIMEOUT_MS})
${TIME_SCALE}=N                 factor of all time limits; measured when absent
SIMULATION_SEEDS=N                number of simulated lives`;

interface Group {
  readonly stage: string;
  readonly files: readonly string[];
}

async function runAll(
  stages: readonly string[],
  files: readonly string[],
  signal: AbortSignal,
): Promise<Counts> {
  const total = { passed: 0, failed: 0, skipped: [] as string[] };
  let scale = Number(process.env[TIME_SCALE] ?? 1);
  /** The greatest factor so far: a machine that was busy may be so again. */
  const scaleNow = (): number => {
    const measured = process.env[TIME_SCALE] === undefined ? measureTimeScale() : scale;
    if (measured > 1.5 * scale)
      console.log(
        `this machine takes ${measured.toFixed(1)} times as long as a usual one: so do time limits`,
      );
    return (scale = Math.max(scale, measured));
  };
  const report = (
    name: string,
    counts: Counts,
    { output, ms, cpuMs, timedOut }: Pick<FileResult, 'output' | 'ms' | 'cpuMs' | 'timedOut'>,
    timeoutMs = FILE_TIMEOUT_MS,
  ): void => {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped.push(...counts.skipped);
    const outcome = counts.failed > 0 ? 'FAIL' : 'ok  ';
    const cpu = cpuMs === undefined ? '' : `, ${cpuMs} ms of processor time`;
    const fate = timedOut ? `, killed after ${timeoutMs} ms` : '';
    console.log(
      `${outcome} ${name}: ${counts.passed} passed, ${counts.failed} failed, ${ms} ms${cpu}${fate}`,
    );
    for (const line of counts.skipped) console.log(`    ${line}`);
    if (counts.failed > 0) console.log(output.trimEnd().replace(/^/gm, '    | '));
  };

  const runCheck = async (name: string): Promise<void> => {
    const [command, ...args] = CHECKS[name]!;
    const timeoutMs = Math.round(FILE_TIMEOUT_MS * scaleNow());
    const result = await runChild(command, args, { timeoutMs, signal });
    const passed = result.code === 0 ? 1 : 0;
    report(name, { passed, failed: 1 - passed, skipped: [] }, result, timeoutMs);
  };
  /** If a file ends its process, another process runs the remaining files. */
  const runFiles = async ({ stage, files }: Group): Promise<void> => {
    for (let rest = files; rest.length > 0 && !signal.aborted;) {
      const args = [script('test-files.ts'), ...rest];
      const factor = scaleNow();
      const timeoutMs = Math.round(FILE_TIMEOUT_MS * factor * rest.length);
      let toldTests = 0;
      let toldFiles = 0;
      const tell = (results: readonly FileResult[]): void => {
        for (const one of results.slice(toldFiles))
          report(isOnPostgres(stage) ? `${one.file} on PostgreSQL` : one.file, one.counts, one, timeoutMs);
        toldFiles = results.length;
      };
      let lastMark = -1;
      const onOutput = (output: string): void => {
        const mark = output.lastIndexOf('\n:: ');
        if (mark === lastMark) return;
        lastMark = mark;
        const failed = failedTests(output);
        for (const { file, name } of failed.slice(toldTests)) console.log(`failed ${file}: ${name}`);
        toldTests = failed.length;
        tell(finalResults(output));
      };
      const env = { ...(await environmentOf(stage)), [TIME_SCALE]: String(factor) };
      const result = await runChild(process.execPath, args, { timeoutMs, signal, env, onOutput });
      const results = resultsOf(result);
      tell(results);
      if (results.length === 0) report(rest[0]!, { passed: 0, failed: 1, skipped: [] }, result, timeoutMs);
      rest = rest.slice(Math.max(1, results.length));
    }
  };

  const memory = memoryFolder();
  const databases = new Map<boolean, Promise<{ readonly url: string; stop(): Promise<void> }>>();
  const databaseOf = async (stage: string): Promise<string> => {
    const isOldest = ON_DEMAND.has(stage);
    const started =
      databases.get(isOldest) ??
      import('../test/support/postgres.ts').then(({ startPostgres }) =>
        startPostgres({ version: isOldest ? OLDEST_POSTGRES : undefined }),
      );
    databases.set(isOldest, started);
    return (await started).url;
  };
  const environmentOf = async (stage: string): Promise<NodeJS.ProcessEnv> => ({
    ...(memory !== undefined && IN_MEMORY.has(stage) && { TMPDIR: memory }),
    ...(isOnPostgres(stage) && { TEST_DATABASE_URL: await databaseOf(stage) }),
    ...(stages.some(isOnPostgres) &&
      stages.includes(stage) &&
      WITH_POSTGRES.has(stage) && { TEST_POSTGRES_URL: await databaseOf(stage) }),
  });
  const groups: Group[] = stages
    .filter((stage) => !(stage in CHECKS))
    .flatMap((stage) =>
      groupsOf(listTests(stage), FILES_PER_PROCESS[stage]!, stage === 'postgres' ? 1 : MIN_PROCESSES).map(
        (files) => ({ stage, files }),
      ),
    );
  const stageOf = (file: string): string =>
    process.env['TEST_STORE'] === 'postgres' ? 'postgres' : file.split('/')[1]!;
  groups.push(...files.map((file) => ({ stage: stageOf(file), files: [file] })));
  const isLongest = ({ files }: Group): boolean => rankOf(files) >= 0;
  const inOrder = [
    ...groups.filter(isLongest).sort((a, b) => rankOf(a.files) - rankOf(b.files)),
    ...groups.filter((group) => !isLongest(group)),
  ];
  const jobs = [
    ...stages.filter((stage) => stage in CHECKS).map((stage) => () => runCheck(stage)),
    ...inOrder.map((group) => () => runFiles(group)),
  ];
  const lane = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined && !signal.aborted; job = jobs.shift()) await job();
  };
  await Promise.all(Array.from({ length: MAX_PROCESSES }, lane));
  for (const started of databases.values()) await (await started).stop();
  if (memory !== undefined) rmSync(memory, { recursive: true, force: true });
  return total;
}

/** Creates a temporary folder in memory; undefined if it lacks space or cannot hold loadable addons. */
function memoryFolder(): string | undefined {
  if (!existsSync(MEMORY) || !existsSync('/proc/mounts')) return undefined;
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY);
  if (mount === undefined || /\bnoexec\b/.test(mount)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < MIN_MEMORY_BYTES ? undefined : mkdtempSync(join(MEMORY, 'rewound-tests-'));
}

function emptyWhenFull(folder: string): string {
  const isFull = existsSync(folder) && readdirSync(folder, { recursive: true }).length > MAX_COMPILED_FILES;
  if (isFull) rmSync(folder, { recursive: true, force: true });
  return folder;
}

function listTests(stage: string): string[] {
  const onPostgres = POSTGRES_STAGES[stage];
  if (onPostgres !== undefined) return onPostgres(listTests);
  const folder = `test/${stage}`;
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();
}

const rankOf = ([file]: readonly string[]): number => LONGEST_FILES.indexOf(file!);

function groupsOf(files: readonly string[], together: number, atLeast: number): string[][] {
  const count = Math.max(Math.ceil(files.length / together), Math.min(files.length, atLeast));
  return Array.from({ length: count }, (_, i) =>
    files.slice(Math.ceil((i * files.length) / count), Math.ceil(((i + 1) * files.length) / count)),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const asked = process.argv.slice(2);
  const files = asked.filter((name) => name.endsWith('.test.ts') && existsSync(name));
  const unknown = asked.filter((name) => !STAGES.includes(name) && !files.includes(name));
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

  if (asked.includes('--help')) {
    console.log(HELP);
    process.exit();
  }
  if (unknown.length > 0) console.log(`unknown stage ${unknown.join(', ')}; there are ${STAGES.join(', ')}`);
  const stages = STAGES.filter((stage) =>
    asked.length === 0 ? !ON_DEMAND.has(stage) : asked.includes(stage),
  );
  process.env['NODE_COMPILE_CACHE'] ??= emptyWhenFull(COMPILE_CACHE);
  const { passed, failed, skipped } =
    unknown.length > 0 ? NOTHING : await runAll(stages, files, stopping.signal);
  process.exitCode = failed > 0 || passed === 0 || stopping.signal.aborted ? 1 : 0;
  if (skipped.length > 0) console.log(`${skipped.length} skipped, for the reasons printed with them`);
  console.log(`${passed} passed, ${failed} failed`);
  // The library that starts databases would end the process with 0.
  process.exit();
}
