/** The part of the `replay` command that executes runs again. Returns the exit code. */
import { writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { parse as parseEnv } from 'dotenv';
import type { GraphSpec } from '../../graphs/loader.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { History } from '../../store/port/past.ts';
import { findRunOf, findThread } from '../find.ts';
import type { Reexecution } from './execute.ts';
import { toHar } from './har.ts';
import { openJudge, openJudgeHere, withLate, type Judge } from './judge.ts';
import { unpackAll } from './run-data.ts';
import type { RunRef } from '../../thread/events.ts';
import { printReexecution, toJsonReport } from './print.ts';
import { readTextFile } from '../../kernel/text-file.ts';

export interface ReexecuteOptions {
  readonly thread?: string;
  readonly run?: string;
  readonly check?: boolean;
  readonly match?: string;
  readonly live?: boolean;
  readonly allowUnused?: boolean;
  readonly answer?: readonly string[];
  readonly set?: readonly string[];
  readonly stub?: readonly string[];
  readonly from?: string;
  readonly break?: string;
  readonly env?: string;
  readonly inspect?: boolean;
  readonly har?: string;
  readonly json?: boolean;
}

const EXIT_CODES = { equal: 0, different: 1, untried: 3 } as const;

export interface ReexecuteHost {
  /** Graphs of the project by id. */
  readonly graphs: readonly GraphSpec[];
  /** Limit of one run. */
  readonly timeoutMs: number;
  print(line: string): void;
}

/** `logs` open the logs to look at; each is open while its runs are executed. */
export async function runReexecution(
  logs: readonly (() => History)[],
  options: ReexecuteOptions,
  host: ReexecuteHost,
): Promise<number> {
  const { print } = host;
  if (options.inspect === true) await waitForDebugger(print);
  const judge = openJudgeFor(options, host);
  const results: Reexecution[] = [];
  /** What code of a run is refused later counts for the last one, so that is told at the end. */
  let last: Reexecution | undefined;
  const tell = (result: Reexecution | undefined): void => {
    if (result === undefined) return;
    report(result, options, print);
    results.push(result);
  };
  try {
    for (const open of logs) {
      const history = open();
      try {
        const runs = await chosenRuns(history, options);
        if (options.har !== undefined) return await writeHar(history, options.har, runs, print);
        for (const run of runs) {
          tell(last);
          last = await judge.judge(history, run, {
            ...{ match: matchOf(options.match), allowUnused: options.allowUnused ?? false },
            ...{ answers: answersOf(options.answer ?? []), set: membersOf(options.set ?? []) },
            ...{ from: options.from, stubs: options.stub ?? [] },
          });
        }
      } finally {
        history.close();
      }
    }
  } finally {
    const late = await judge.close();
    tell(last && withLate(last, late));
  }
  return summarise(results, options, print);
}

function openJudgeFor(
  { env: file, live = false, json = false, inspect = false, break: before }: ReexecuteOptions,
  { graphs, timeoutMs }: ReexecuteHost,
): Judge {
  const env = file === undefined ? {} : parseEnv(readTextFile(file));
  const pauses = { before, onPause: () => pause(inspect) };
  if (inspect || before !== undefined) return openJudgeHere({ graphs, env, live, pauses });
  // A run that is compared needs no less than the process that reads it.
  const memoryMb = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
  return openJudge({
    ...{ graphs, env, live, memoryMb, timeoutMs, clock: systemClock(), output: json ? 'stderr' : 'stdout' },
  });
}

/** One of several different makes the whole different, and one that was not tried makes it untried. */
function summarise(
  results: readonly Reexecution[],
  { json }: ReexecuteOptions,
  print: (line: string) => void,
): number {
  const count = (verdict: Reexecution['verdict']): number =>
    results.filter((each) => each.verdict === verdict).length;
  if (results.length > 1 && json !== true)
    print(`${count('equal')} equal, ${count('different')} different, ${count('untried')} not tried`);
  if (count('different') > 0) return EXIT_CODES.different;
  return count('untried') > 0 ? EXIT_CODES.untried : EXIT_CODES.equal;
}

/** The run that is named, all ended runs of the thread, or those of all threads. */
async function chosenRuns(history: History, options: ReexecuteOptions): Promise<RunRef[]> {
  const threadIds =
    options.thread === undefined
      ? (await history.past.threads()).map(({ thread_id: threadId }) => threadId)
      : [await findThread(history, options.thread)];
  if (options.thread === undefined && options.run !== undefined)
    throw new Error('--run: expected together with --thread');
  const runs: RunRef[] = [];
  for (const threadId of threadIds) {
    const ids = await history.views.runs.list({ threadId, limit: 1_000_000, offset: 0 });
    const chosen = options.run === undefined ? ids.reverse() : [findRunOf(threadId, ids, options.run)];
    runs.push(...chosen.map((runId) => ({ threadId, runId })));
  }
  const single = SINGLE.filter((name) => [options[name] ?? []].flat().length > 0);
  if (runs.length !== 1 && single.length > 0)
    throw new Error(`--${single[0]}: expected one run (--thread, --run), found ${runs.length}`);
  return runs;
}

/** Options that are about one run. */
const SINGLE = ['har', 'from', 'set', 'answer', 'break', 'stub', 'inspect'] as const;

async function writeHar(
  history: History,
  file: string,
  [run]: readonly RunRef[],
  print: (line: string) => void,
): Promise<number> {
  const { parts, unreadable } = unpackAll(await history.payloads.recording(run!.runId));
  if (unreadable !== undefined) {
    print(unreadable);
    return EXIT_CODES.untried;
  }
  writeFileSync(file, JSON.stringify(toHar(parts), null, 2), { mode: 0o600 });
  print(`${file}: ${parts.filter(({ kind }) => kind === 'exchange').length} exchanges`);
  return EXIT_CODES.equal;
}

/** Prints the verdict, and what came of an edited or paused run. */
function report(result: Reexecution, options: ReexecuteOptions, print: (line: string) => void): void {
  if (options.json === true) return print(JSON.stringify(toJsonReport(result)));
  if (options.check === true && result.verdict === 'equal')
    return print(`equal: run ${result.runId} of graph "${result.graphId}"`);
  printReexecution(result, print);
  const { set = [], answer = [] } = options;
  const isEdited = set.length + answer.length > 0 || options.break !== undefined;
  if (isEdited && result.values !== undefined) print(`values: ${JSON.stringify(result.values, null, 2)}`);
}

function matchOf(text = 'exact'): 'exact' | 'url' {
  if (text === 'exact' || text === 'url') return text;
  throw new Error(`--match: expected exact or url, found "${text}"`);
}

/** `N=FILE`: the text of FILE replaces the body of answer N. */
function answersOf(given: readonly string[]): Map<number, string> {
  return new Map(
    given.map((text) => {
      const [, number, file] = /^(\d+)=(.+)$/s.exec(text) ?? [];
      if (number === undefined || file === undefined)
        throw new Error(`--answer: expected N=FILE, N counts exchanges from 1, found "${text}"`);
      return [Number(number), readTextFile(file)];
    }),
  );
}

/** `key=value`: a value that is not JSON is a text. */
function membersOf(given: readonly string[]): JsonObject {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at <= 0) throw new Error(`--set: expected key=value, found "${text}"`);
      return [text.slice(0, at), toJson(text.slice(at + 1))];
    }),
  );
}

function toJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // A plain text needs no quotes.
    return text;
  }
}

async function waitForDebugger(print: (line: string) => void): Promise<void> {
  const inspector = await import('node:inspector');
  inspector.open(0, '127.0.0.1');
  print(`debugger: ${inspector.url() ?? ''} (chrome://inspect); waiting for it`);
  inspector.waitForDebugger();
}

/** Before the node of `--break`: hands over to the debugger, or ends the run there. */
function pause(isInspected: boolean): boolean {
  if (isInspected) debugger;
  return isInspected;
}
