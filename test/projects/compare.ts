/** Runs a scenario with the library alone and on the real server, and tells where they differ. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { runChild } from '../../scripts/run-child.ts';
import { withPrograms, type Programs, type ServerProgram } from '../e2e/programs.ts';
import { scaled } from '../support/scaled.ts';
import { newDatabaseUrl } from '../support/test-database.ts';
import { openDriver } from './drive.ts';
import { copiesOn, copyProject, ensureLine, OLDER_LINES, type Line } from './lines.ts';
import { DELIBERATE, mask } from './mask.ts';
import { inOneOrder } from './parallel.ts';
import { ALL_MODES, MODES, type Scenario } from './steps.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ORACLE_TIMEOUT_MS = 60_000;
const MAX_TOLD_DIFFERENCES = 12;
/** What a configuration may have beside graphs and an `.env` to be served together with others. */
const USUAL = { node_version: '20', dependencies: ['.'] };

/** A started project, or several: their folder on the line, and the server that has their configuration. */
export interface StartedProject {
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
  return withServed(folder, use);
}

/**
 * The same for several projects whose configurations name little but graphs: one configuration names those of all, each
 * by project and name. A start of server, graph worker and library costs more than what most projects do.
 */
export async function withProjects<T>(
  line: Line,
  repository: string,
  names: readonly string[],
  use: (projects: StartedProject) => Promise<T>,
): Promise<T> {
  const root = await ensureLine(line);
  const folder = join(copiesOn(root), repository);
  await rm(folder, { recursive: true, force: true });
  const all = { dependencies: names.map((name) => `./${name}`), graphs: {} as Record<string, unknown> };
  for (const name of names) {
    const own = await copyProject(root, name, repository);
    const { graphs, ...rest } = JSON.parse(await readFile(join(own, 'langgraph.json'), 'utf8')) as {
      graphs: Record<string, string | { path: string }>;
    };
    for (const [id, graph] of Object.entries(graphs))
      all.graphs[`${name}-${id}`] =
        typeof graph === 'string' ? join(name, graph) : { ...graph, path: join(name, graph.path) };
    const env = existsSync(join(own, '.env'));
    assert.deepEqual({ node_version: '20', ...rest }, { ...USUAL, ...(env && { env: '.env' }) }, name);
    if (!env) continue;
    await cp(join(own, '.env'), join(folder, '.env'));
    Object.assign(all, { env: '.env' });
  }
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify(all));
  return withServed(folder, use);
}

const withServed = <T>(folder: string, use: (project: StartedProject) => Promise<T>): Promise<T> =>
  withPrograms(async (programs) => {
    const config = ['langgraph.json', 'platform.json'].map((file) => join(folder, file)).find(existsSync)!;
    const databaseUrl = newDatabaseUrl();
    const env = {
      // Graphs that leave a mark there wait for ever until it is there.
      ...{ PROJECT_MARK: join(programs.dir, 'mark'), PLATFORM_RECORDING: 'true' },
      ...(databaseUrl && { PLATFORM_DATABASE_URL: databaseUrl }),
    };
    const start = (): Promise<ServerProgram> =>
      programs.serve({ args: ['--config', config], cwd: folder, env });
    let server = await start();
    return use({
      ...{ folder, config, env, programs },
      server: () => server,
      async again() {
        await server.end('SIGKILL');
        server = await start();
      },
    });
  });

/**
 * Follows every scenario of the project; rejects with the differences, a line each. The server is started again once for
 * all scenarios that ask for it next.
 */
export async function assertLikeLibrary(
  line: Line,
  project: StartedProject,
  scenarios: readonly Scenario[],
): Promise<void> {
  const modes = MODES[line] ?? ALL_MODES;
  const asking = askLibrary(line, project, scenarios);
  asking.catch(() => undefined); // told below
  const differences: string[] = [];

  /** Yields where the server has to be started again. */
  async function* follow(scenario: Scenario, i: number): AsyncGenerator<void> {
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
      if (step.do === 'restart') {
        yield;
        continue;
      }
      try {
        const settle = (shown: unknown): unknown =>
          mask('parallel' in step && step.parallel ? inOneOrder(shown, masked) : shown, masked);
        const found = settle((await driver.follow(step)) ?? null);
        const expected = (await asking)[i]![j];
        if (step.do === 'run' && isRefusal(expected) !== (step.refused === true))
          differences.push(`${place}: the library alone shows ${told(expected)}`);
        const all = differencesOf(place, settle(expected), found);
        differences.push(...all.filter((text) => !DELIBERATE.some((each) => text.startsWith(each.place))));
      } catch (error) {
        differences.push(`${place} failed: ${String(error)}`);
        break;
      }
    }
  }

  for (let open = scenarios.map(follow); open.length > 0;) {
    const stopped: typeof open = [];
    for (const each of open) if ((await each.next()).done !== true) stopped.push(each);
    if (stopped.length > 0) await project.again();
    open = stopped;
  }
  if (differences.length === 0) return;
  const rest = differences.length - MAX_TOLD_DIFFERENCES;
  const lines = [...differences.slice(0, MAX_TOLD_DIFFERENCES), ...(rest > 0 ? [`and ${rest} more`] : [])];
  throw new Error(`line ${line} is not as with the library alone:\n${lines.join('\n')}`);
}

/** Only an error: the scenario may be wrong itself, and would compare nothing. */
const isRefusal = (chunks: unknown): boolean =>
  Array.isArray(chunks) && chunks.length === 1 && (chunks[0] as unknown[])[0] === 'error';

/** For each scenario what each of its steps shows. */
async function askLibrary(
  line: Line,
  { folder, programs }: StartedProject,
  scenarios: readonly Scenario[],
): Promise<unknown[][]> {
  const root = await ensureLine(line);
  const [order, result] = [join(programs.dir, 'order.json'), join(programs.dir, 'result.json')];
  const oracle = join(root, 'oracles', basename(folder));
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
      timeoutMs: scaled(ORACLE_TIMEOUT_MS),
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
