/** Runs the `replay` command. R1 It opens the log read-only and imports no module with effects. */
import { isUuid } from '../../kernel/ids.ts';
import type { History } from '../../store/port/past.ts';
import { assertPrefix, findThread } from '../find.ts';
import { printState, printThreads, printTimeline, type Form } from './print.ts';
import { stateAt } from '../travel/state.ts';
import { counted } from './text.ts';
import { listThreads } from './threads.ts';
import { cronTimelineOf, timelineOf, type Entry } from './timeline.ts';

export interface ReplayOptions {
  /** Thread id, or a unique prefix. */
  readonly thread?: string;
  readonly cron?: string;
  readonly to?: string;
  readonly json?: boolean;
  /** Also lists threads of stateless runs and of crons. */
  readonly all?: boolean;
  /** Prints ids in full. */
  readonly ids?: boolean;
}

/** Output of the command. `columns`: width of the terminal, undefined for a file. */
export interface Output {
  readonly columns?: number | undefined;
  print(line: string): void;
}

/** Replays the log that `open` opens; returns the exit code. Throws when arguments or log are invalid. */
export async function runReplay(
  open: () => History,
  options: ReplayOptions,
  output: Output,
): Promise<number> {
  const { json = false, ids = false } = options;
  checkOptions(options);
  const history = open();
  const form: Form = { ids, columns: output.columns, print: output.print };
  const give = (value: unknown, tell: () => void): number => {
    if (json) output.print(JSON.stringify(value));
    else tell();
    return 0;
  };
  try {
    if (options.cron !== undefined) {
      const entries = found(cronTimelineOf(history, options.cron), `cron ${options.cron}`);
      return give(entries, () => printTimeline(entries, `Cron ${options.cron}`, form));
    }
    if (options.thread === undefined) {
      const list = await listThreads(history, options.all ?? false);
      return give(list.threads, () => printThreads(list, form));
    }
    const thread = await findThread(history, options.thread);
    if (options.to !== undefined) {
      const state = await stateAt(history, thread, await positionIn(history, options.to));
      if (state === undefined) throw new Error(`thread ${thread} did not exist at position ${options.to}`);
      return give(state, () => printState(state, form));
    }
    const entries = found(await timelineOf(history, thread), `thread ${thread}`);
    return give(entries, () => printTimeline(entries, titleOf(thread, entries), form));
  } finally {
    history.close();
  }
}

function checkOptions({ thread, cron, to }: ReplayOptions): void {
  if (thread !== undefined) assertPrefix(thread);
  if (cron !== undefined && !isUuid(cron)) throw new Error('--cron: expected a UUID');
  if (to !== undefined && !/^\d+$/.test(to)) throw new Error('--to: expected a position');
  if (to !== undefined && thread === undefined) throw new Error('--to: expected together with --thread');
  if (cron !== undefined && thread !== undefined) throw new Error('--cron: expected without --thread');
}

async function positionIn(history: History, to: string): Promise<number> {
  const last = await history.past.lastPosition();
  if (Number(to) > last) throw new Error(`--to: expected a position up to ${last}, the last of the log`);
  return Number(to);
}

function found(entries: readonly Entry[], of: string): readonly Entry[] {
  if (entries.length === 0) throw new Error(`${of} has no events here`);
  return entries;
}

function titleOf(thread: string, entries: readonly Entry[]): string {
  const runs = entries.filter(({ type }) => type === 'RunCreated').length;
  return `Thread ${thread}, ${counted(runs, 'run')}`;
}
