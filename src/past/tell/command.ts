/** Tells what a log has: its threads, the story of one or of a run, a state. R1 It imports no module with effects. */
import { isUuid } from '../../kernel/ids.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { History } from '../../store/port/past.ts';
import { findTarget } from '../find.ts';
import { printState, printThreads, printTimeline, printValues, type Form } from './print.ts';
import { stateAt } from '../travel/state.ts';
import { counted } from './text.ts';
import { listThreads, type ThreadFilter } from './threads.ts';
import { cronTimelineOf, timelineOf, type Entry } from './timeline.ts';

export interface TellOptions {
  readonly json?: boolean;
  /** Prints ids in full. */
  readonly ids?: boolean;
}

export interface ShowOptions extends TellOptions {
  /** A position of the log; the command then tells the thread's state at that position. */
  readonly to?: string;
}

/** Output of a command. `columns`: width of the terminal, undefined for a file. */
export interface Output {
  readonly columns?: number | undefined;
  print(line: string): void;
  /** Folders of the project's sources. */
  readonly folders: readonly string[];
}

export async function tellThreads(
  history: History,
  filter: ThreadFilter,
  options: TellOptions,
  output: Output,
): Promise<void> {
  const list = await listThreads(history, filter);
  give(list.threads, options, output, (form) => printThreads(list, form));
}

/**
 * `name`: beginning of the id of a thread or run, or the id of a cron; undefined for the thread of a file. Returns the id of a
 * run whose story it told.
 */
export async function tellPast(
  history: History,
  name: string | undefined,
  options: ShowOptions,
  output: Output,
): Promise<string | undefined> {
  const cron = name !== undefined && isUuid(name) ? await cronTimelineOf(history, name.toLowerCase()) : [];
  if (cron.length > 0) {
    give(cron, options, output, (form) => printTimeline(cron, `Cron ${name}`, form));
    return undefined;
  }
  const { threadId, run } = await findTarget(history, name);
  if (options.to !== undefined) {
    const state = await stateAt(history, threadId, await positionIn(history, options.to));
    if (state === undefined)
      throw new Unavailable(`thread ${threadId} did not exist at position ${options.to}`);
    give(state, options, output, (form) => printState(state, form));
    return undefined;
  }
  const all = await timelineOf(history, threadId);
  if (run === undefined) {
    give(all, options, output, (form) => printTimeline(all, titleOf(threadId, all), form));
    return undefined;
  }
  const entries = all.filter(({ data }) => (data as { readonly runId?: unknown }).runId === run.runId);
  const values = run.head === null ? undefined : await history.payloads.values(threadId, run.head);
  give(entries, options, output, (form) => {
    printTimeline(entries, `Run ${run.runId} of thread ${threadId}`, form);
    if (values === undefined) return;
    form.print('');
    printValues(values.parse(), form);
  });
  return run.runId;
}

function give(
  value: unknown,
  { json = false, ids = false }: TellOptions,
  output: Output,
  tell: (form: Form) => void,
): void {
  if (json) output.print(JSON.stringify(value));
  else tell({ ...output, columns: output.columns, ids });
}

async function positionIn(history: History, to: string): Promise<number> {
  if (!/^\d+$/.test(to)) throw new Error(`--to: expected a position, found "${to}"`);
  const last = await history.past.lastPosition();
  if (Number(to) > last) throw new Error(`--to: expected a position up to ${last}, the last of the log`);
  return Number(to);
}

function titleOf(thread: string, entries: readonly Entry[]): string {
  const runs = entries.filter(({ type }) => type === 'RunCreated').length;
  return `Thread ${thread}, ${counted(runs, 'run')}`;
}
