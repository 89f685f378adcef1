/** The `rerun` command: executes runs again. Returns the exit code. */
import { writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { parse as parseEnv } from 'dotenv';
import type { Json } from '../../kernel/json.ts';
import { systemClock } from '../../kernel/clock.ts';
import { readTextFile } from '../../kernel/text-file.ts';
import type { RunRecord } from '../../store/port/views/runs.ts';
import type { History } from '../../store/port/past.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { findTarget } from '../find.ts';
import { readRunSteps } from '../run-steps.ts';
import type { RunTrace } from '../trace.ts';
import { checkedOf, codeOf, openReport, type Judged, type ReportHost, type Reporter } from './check.ts';
import { openDebugger } from './debugger.ts';
import { answersOf, matchOf, membersOf } from './edits.ts';
import type { Reexecution, ReexecutionOptions } from './execute.ts';
import { readExpectations, writeExpectations } from './expectations.ts';
import { toHar } from './har.ts';
import { openJudge, openJudgeHere, withLate, type Judge } from './judge.ts';
import { printReexecution, printWhatIf, toJsonReport } from './print.ts';
import { unpackAll } from './run-data.ts';

export interface RerunOptions {
  readonly check?: boolean;
  readonly reporter?: Reporter;
  readonly update?: boolean;
  readonly match?: string;
  readonly live?: boolean;
  readonly allowUnused?: boolean;
  readonly answer?: readonly string[];
  readonly set?: readonly string[];
  readonly stub?: readonly string[];
  readonly from?: string;
  /** True: the node that failed, else the first. */
  readonly break?: string | true;
  readonly env?: string;
  readonly inspect?: boolean;
  readonly har?: string;
  readonly json?: boolean;
}

/** Runs to execute again. */
export interface RerunTarget {
  open(): Promise<History>;
  /** Beginning of the id of a run or thread; undefined for all threads of the log. */
  readonly name: string | undefined;
  /** The exported file that it is of. */
  readonly file?: string | undefined;
}

export interface RerunHost extends ReportHost {
  /** Limit of one run. */
  readonly timeoutMs: number;
}

/** Options that are about one run. */
const SINGLE = ['har', 'from', 'set', 'answer', 'break', 'stub', 'inspect'] as const;

export async function rerun(
  targets: readonly RerunTarget[],
  options: RerunOptions,
  host: RerunHost,
): Promise<number> {
  const { print } = host;
  const edits = { match: matchOf(options.match), set: membersOf(options.set ?? []) };
  if (options.update === true && targets.some(({ file }) => file === undefined))
    throw new Error('--update: expected exported files, whose expectations it rewrites');
  const single = SINGLE.find((name) => [options[name] ?? []].flat().length > 0);
  const isChecked = options.check ?? options.update ?? options.reporter !== undefined;
  const report =
    isChecked && options.json !== true ? openReport(options.reporter ?? 'text', host) : undefined;
  const judge = openJudgeFor(options, host, isChecked);
  const all: Judged[] = [];
  /** What code of a run is refused later counts for the last one, so that is told at the end. */
  let last: Judged | undefined;
  const tell = (judged: Judged | undefined): void => {
    if (judged === undefined) return;
    const { wrongOption } = judged.result;
    if (wrongOption !== undefined) throw new Error(wrongOption);
    if (report !== undefined) report.tell(judged);
    else printJudged(judged, { ...options, isChecked }, print);
    all.push(judged);
  };
  try {
    for (const { open, name, file } of targets) {
      const history = await open();
      try {
        const runs = await chosenRuns(history, name);
        if (single !== undefined && (runs.length !== 1 || targets.length !== 1))
          throw new Error(`--${single}: expected one run, found ${runs.length * targets.length}`);
        if (options.har !== undefined) return await writeHar(history, options.har, runs[0]!, print);
        const expected = file === undefined ? new Map<string, RunTrace>() : readExpectations(file);
        for (const run of runs) {
          tell(last);
          last = undefined;
          last = await judgeRun(judge, history, run, options, { file, expected, edits });
        }
        if (options.update === true) writeExpectations(file!, expected);
      } finally {
        await history.close();
      }
    }
  } finally {
    const late = await judge.close();
    tell(last && { ...last, result: withLate(last.result, late) });
  }
  report?.end();
  if (report === undefined && all.length > 1 && options.json !== true) print(countsOf(all));
  return codeOf(all, isChecked);
}

interface Around {
  readonly edits: Pick<ReexecutionOptions, 'match' | 'set'>;
  readonly file: string | undefined;
  readonly expected: Map<string, RunTrace>;
}

async function judgeRun(
  judge: Judge,
  history: History,
  run: RunRecord,
  options: RerunOptions,
  { file, expected, edits }: Around,
): Promise<Judged> {
  const { runId } = run;
  const { update: wantsTrace = false, inspect = false } = options;
  const count = (options.answer ?? []).length === 0 ? 0 : await exchangesOf(history, runId);
  const before = options.break === true ? await nodeToStopAt(history, run, inspect) : options.break;
  const result = await judge.judge(
    history,
    run,
    {
      ...{ ...edits, allowUnused: options.allowUnused ?? false },
      answers: answersOf(options.answer ?? [], count),
      ...{ from: options.from, stubs: options.stub ?? [], wantsTrace },
      ...(before !== undefined && { pauses: { before } }),
    },
    wantsTrace ? undefined : expected.get(runId),
  );
  const judged = {
    ...{ run, file, result, isExpected: !wantsTrace && expected.has(runId) },
    ...(isEdited(options) && { recorded: await valuesOf(history, run) }),
  };
  if (!wantsTrace) return judged;
  if (result.verdict === 'equal' && result.outcome?.kind !== 'error') expected.delete(runId);
  else if (result.trace !== undefined && result.verdict !== 'untried') expected.set(runId, result.trace);
  else return judged;
  return { ...judged, isExpected: expected.has(runId), isUpdated: true };
}

function openJudgeFor(
  options: RerunOptions,
  { graphs, timeoutMs, print }: RerunHost,
  isChecked: boolean,
): Judge {
  const { env: file, live = false, json = false, inspect = false } = options;
  const env = file === undefined ? {} : parseEnv(readTextFile(file));
  if (inspect) return openJudgeHere({ graphs, env, live, ...openDebugger(print) });
  // A run that is compared needs no less than the process that reads it.
  const output = isChecked ? 'nowhere' : json ? 'stderr' : 'stdout';
  const memoryMb = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
  return openJudge({
    ...{ graphs, env, live, memoryMb, timeoutMs, clock: systemClock(), output },
  });
}

const countsOf = (all: readonly Judged[]): string => {
  const count = (verdict: Reexecution['verdict']): number =>
    all.filter(({ result }) => result.verdict === verdict).length;
  return `${count('equal')} equal, ${count('different')} different, ${count('untried')} not tried`;
};

/** The run that is named, all runs of the thread, or those of all threads, in their order. */
async function chosenRuns(history: History, name: string | undefined): Promise<RunRecord[]> {
  const found = name === undefined ? undefined : await findTarget(history, name);
  if (found?.run !== undefined) return [found.run];
  const threads = found === undefined ? await history.past.threads() : [{ thread_id: found.threadId }];
  const runs: RunRecord[] = [];
  for (const { thread_id: threadId } of threads) {
    const ids = await history.views.runs.list({ threadId, limit: 1_000_000, offset: 0 });
    for (const id of ids.reverse()) runs.push((await history.views.runs.get(id))!);
  }
  return runs;
}

async function exchangesOf(history: History, runId: string): Promise<number> {
  const { parts } = unpackAll(await history.payloads.recording(runId));
  return parts.filter(({ kind }) => kind === 'exchange').length;
}

/** The node that failed, else the first; without a debugger that of the root graph. */
async function nodeToStopAt(history: History, run: RunRecord, isInspected: boolean): Promise<string> {
  const { end, steps } = await readRunSteps({ ...history, payloads: history.payloads }, run);
  const origin = end?.outcome.kind === 'error' ? end.outcome.origin : undefined;
  const first = steps.find(
    ({ source, graph, nodes }) => source === 'loop' && graph === '' && nodes[0] !== START,
  );
  const node = origin?.node ?? first?.nodes[0];
  if (node === undefined) throw new Error('--break: expected the name of a node, as the run has none');
  return isInspected ? node : node.split('|')[0]!;
}

const START = '__start__';

async function writeHar(
  history: History,
  file: string,
  { runId }: RunRecord,
  print: (line: string) => void,
): Promise<number> {
  const { parts, unreadable } = unpackAll(await history.payloads.recording(runId));
  if (unreadable !== undefined) throw new Unavailable(unreadable);
  writeFileSync(file, JSON.stringify(toHar(parts), null, 2), { mode: 0o600 });
  print(`${file}: ${parts.filter(({ kind }) => kind === 'exchange').length} exchanges`);
  return 0;
}

const isEdited = ({ set = [], answer = [], break: before }: RerunOptions): boolean =>
  set.length + answer.length > 0 || before !== undefined;

const valuesOf = async (history: History, { head, threadId }: RunRecord): Promise<Json> =>
  head === null ? null : ((await history.payloads.values(threadId, head))?.parse() ?? null);

/** Prints the verdict, and what came of an edited or paused run. */
function printJudged(
  judged: Judged,
  { json, isChecked }: { readonly json?: boolean | undefined; readonly isChecked: boolean },
  print: (line: string) => void,
): void {
  const { result, recorded, run } = judged;
  if (json === true)
    return print(JSON.stringify({ ...toJsonReport(result), ...(isChecked && { check: checkedOf(judged) }) }));
  printReexecution(result, print);
  if (recorded !== undefined && result.values !== undefined) printWhatIf(result, recorded, run, print);
}
