/** The part of the `replay` command that executes runs again. Returns the exit code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse as parseEnv } from 'dotenv';
import type { GraphSpec } from '../graphs/loader.ts';
import { systemClock } from '../kernel/clock.ts';
import { randomIds } from '../kernel/ids.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { History } from '../log/sqlite/history.ts';
import { listRuns } from '../projections/run-queries.ts';
import { unpackPart } from '../recording/parts.ts';
import { findThread } from '../replay/find-thread.ts';
import { reexecute, type Reexecution } from './execute.ts';
import { toHar } from './har.ts';
import { printReexecution } from './print.ts';

export interface ReexecuteOptions {
  readonly thread?: string;
  readonly run?: string;
  readonly match?: string;
  readonly live?: boolean;
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
  print(line: string): void;
}

export async function runReexecution(
  open: () => History,
  options: ReexecuteOptions,
  { graphs, print }: ReexecuteHost,
): Promise<number> {
  const history = open();
  try {
    if (options.thread === undefined) throw new Error('--thread: expected with --execute and --har');
    const threadId = await findThread(history, options.thread);
    const runId = await findRun(history, threadId, options.run);
    if (options.har !== undefined) {
      const parts = (await history.payloads.recording(runId)).map(unpackPart);
      writeFileSync(options.har, JSON.stringify(toHar(parts), null, 2), { mode: 0o600 });
      print(`${options.har}: ${parts.filter(({ kind }) => kind === 'exchange').length} exchanges`);
      return EXIT_CODES.equal;
    }
    if (options.inspect === true) await waitForDebugger(print);
    const clock = systemClock();
    const result = await reexecute(history, {
      ...{ threadId, runId, clock, ids: randomIds(clock) },
      graphOf: (graphId) => graphs.find(({ id }) => id === graphId),
      match: matchOf(options.match),
      live: options.live ?? false,
      answers: answersOf(options.answer ?? []),
      env: options.env === undefined ? {} : parseEnv(readFileSync(options.env)),
      set: membersOf(options.set ?? []),
      ...{ from: options.from, stubs: options.stub ?? [] },
      pauses: { before: options.break, onPause: () => pause(options.inspect === true) },
    });
    report(result, options, print);
    return EXIT_CODES[result.verdict];
  } finally {
    history.close();
  }
}

/** Prints the verdict, and what came of an edited or paused run. */
function report(result: Reexecution, options: ReexecuteOptions, print: (line: string) => void): void {
  if (options.json === true) return print(JSON.stringify(result));
  printReexecution(result, print);
  const { set = [], answer = [] } = options;
  const isEdited = set.length + answer.length > 0 || options.break !== undefined;
  if (isEdited && result.values !== undefined) print(`values: ${JSON.stringify(result.values, null, 2)}`);
}

async function findRun(history: History, threadId: string, given: string | undefined): Promise<string> {
  const ids = await listRuns(history.rows, { threadId, limit: 1_000_000, offset: 0 });
  if (given === undefined) {
    const [only, ...others] = ids;
    if (only !== undefined && others.length === 0) return only;
    throw new Error(`--run: expected one of ${ids.length} runs of thread ${threadId}: ${ids.join(', ')}`);
  }
  const prefix = given.replace('…', '').toLowerCase();
  const found = ids.filter((id) => id.startsWith(prefix));
  if (found.length === 1) return found[0]!;
  throw new Error(
    found.length === 0
      ? `--run: thread ${threadId} has no run whose id begins with ${prefix}`
      : `--run: several runs begin with ${prefix}: ${found.join(', ')}`,
  );
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
      return [Number(number), readFileSync(file, 'utf8')];
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
  // oxlint-disable-next-line no-debugger
  if (isInspected) debugger;
  return isInspected;
}
