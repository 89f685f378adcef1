/** Runs a scenario with the library alone and on the real server, and tells where they differ. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { runChild } from '../../scripts/run-child.ts';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { openDriver } from './drive.ts';
import { copyProject, ensureLine, OLDER_LINES, type Line } from './lines.ts';
import { DELIBERATE, mask } from './mask.ts';
import { inOneOrder } from './parallel.ts';
import { ALL_MODES, MODES, type Scenario } from './steps.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ORACLE_TIMEOUT_MS = 60_000;
const MAX_TOLD_DIFFERENCES = 12;

/** A started project: its folder on the line, and the server that has its configuration. */
export interface StartedProject {
  readonly name: string;
  readonly folder: string;
  /** Configuration file. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: Programs;
  server(): ServerProgram;
  again(): Promise<void>;
}

/** Lends the project, installed on the line and served by the real program, to `use`. */
export async function withProject<T>(
  line: Line,
  name: string,
  use: (project: StartedProject) => Promise<T>,
): Promise<T> {
  const folder = await copyProject(await ensureLine(line), name);
  return withPrograms(async (programs) => {
    const config = ['langgraph.json', 'platform.json'].map((file) => join(folder, file)).find(existsSync)!;
    // Graphs that leave a mark there wait for ever until it is there.
    const env = { PROJECT_MARK: join(programs.dir, 'mark'), PLATFORM_RECORDING: 'true' };
    const start = (): Promise<ServerProgram> =>
      programs.serve({ args: ['--config', config], cwd: folder, env });
    let server = await start();
    return use({
      ...{ name, folder, config, env, programs },
      server: () => server,
      async again() {
        await server.end('SIGKILL');
        server = await start();
      },
    });
  });
}

/** Follows every scenario of the project; rejects with the differences, a line each. */
export async function assertLikeLibrary(
  line: Line,
  project: StartedProject,
  scenarios: readonly Scenario[],
): Promise<void> {
  const modes = MODES[line] ?? ALL_MODES;
  const asking = askLibrary(line, project, scenarios);
  asking.catch(() => undefined); // told below
  const differences: string[] = [];
  for (const [i, scenario] of scenarios.entries()) {
    const { graph, steps } = scenario;
    const masked = {
      configured: steps.flatMap((step) => [
        ...('configurable' in step ? Object.keys(step.configurable ?? {}) : []),
        ...('context' in step ? Object.keys(step.context ?? {}) : []),
      ]),
      withoutUsage: (OLDER_LINES as readonly Line[]).includes(line),
    };
    const driver = openDriver(scenario, modes, project);
    for (const [j, step] of steps.entries()) {
      const place = `${graph}, step ${j + 1} (${step.do})`;
      try {
        const settle = (shown: unknown): unknown =>
          mask('parallel' in step && step.parallel ? inOneOrder(shown, masked) : shown, masked);
        const found = settle((await driver.follow(step)) ?? null);
        const expected = (await asking)[i]![j];
        if (step.do === 'run' && isRefusal(expected) !== (step.refused === true))
          differences.push(`${place}: the library alone shows ${told(expected)}`);
        const all = differencesOf(place, settle(expected), found);
        differences.push(...all.filter((text) => !isDeliberate(project.name, text)));
      } catch (error) {
        differences.push(`${place} failed: ${String(error)}`);
        break;
      }
    }
  }
  if (differences.length === 0) return;
  const rest = differences.length - MAX_TOLD_DIFFERENCES;
  const lines = [...differences.slice(0, MAX_TOLD_DIFFERENCES), ...(rest > 0 ? [`and ${rest} more`] : [])];
  throw new Error(`${project.name} on ${line} is not as with the library alone:\n${lines.join('\n')}`);
}

/** Only an error: the scenario may be wrong itself, and would compare nothing. */
const isRefusal = (chunks: unknown): boolean =>
  Array.isArray(chunks) && chunks.length === 1 && (chunks[0] as unknown[])[0] === 'error';

const isDeliberate = (name: string, text: string): boolean =>
  DELIBERATE.some(({ project, place }) => project === name && text.startsWith(place));

/** For each scenario what each of its steps shows. */
async function askLibrary(
  line: Line,
  { name, folder, programs }: StartedProject,
  scenarios: readonly Scenario[],
): Promise<unknown[][]> {
  const root = await ensureLine(line);
  const [order, result] = [join(programs.dir, 'order.json'), join(programs.dir, 'result.json')];
  const oracle = join(root, 'oracles', name);
  await mkdir(oracle, { recursive: true });
  for (const file of ['oracle.ts', 'plain-form.ts']) await cp(join(HERE, file), join(oracle, file));
  await writeFile(join(oracle, 'package.json'), '{ "type": "module" }');
  const given = scenarios.map(({ source, steps }) => {
    const [file, exportName] = source.split(':') as [string, string];
    return { file: join(folder, file), exportName, steps };
  });
  await writeFile(order, JSON.stringify({ scenarios: given, modes: MODES[line] ?? ALL_MODES }));
  const inFolder = ['-c', 'cd "$0" && exec "$@"', folder];
  const node = [process.execPath, '--env-file-if-exists=.env'];
  const { code, output } = await runChild(
    'sh',
    [...inFolder, ...node, join(oracle, 'oracle.ts'), order, result],
    {
      timeoutMs: ORACLE_TIMEOUT_MS,
      signal: new AbortController().signal,
    },
  );
  if (code !== 0) throw new Error(`the library alone fails (exit code ${code}):\n${output}`);
  return JSON.parse(await readFile(result, 'utf8')) as unknown[][];
}

/** A line for each place where two JSON values differ. */
export function differencesOf(place: string, expected: unknown, found: unknown): string[] {
  if (isDeepStrictEqual(expected, found)) return [];
  if (Array.isArray(expected) && Array.isArray(found)) {
    const length = Math.max(expected.length, found.length);
    return Array.from({ length }, (_, i) => differencesOf(`${place}[${i}]`, expected[i], found[i])).flat();
  }
  if (isPlainObject(expected) && isPlainObject(found)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
    return keys.flatMap((key) => differencesOf(`${place}.${key}`, expected[key], found[key]));
  }
  return [`${place}: expected ${told(expected)}, found ${told(found)}`];
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const told = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300);
