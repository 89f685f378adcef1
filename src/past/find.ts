/** Finds threads and runs by the first characters of their ids. */
import { Unavailable } from '../kernel/unavailable.ts';
import type { RunRecord } from '../store/port/views/runs.ts';
import type { History } from '../store/port/past.ts';

/** Beginning of an id as lists print it, with or without the ellipsis. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}…?$/i;
const MAX_NAMED = 5;

/** A thread, or one of its runs. */
export interface Found {
  readonly threadId: string;
  readonly run?: RunRecord;
}

/** Undefined stands for the log's thread, for that of an exported file. Throws when none or several are found. */
export async function findTarget(history: History, given: string | undefined): Promise<Found> {
  if (given === undefined) return { threadId: (await history.past.threads())[0]!.thread_id };
  if (!PREFIX.test(given))
    throw new Error(`expected the id of a run or thread, or its first characters, found "${given}"`);
  const prefix = given.replace('…', '').toLowerCase();
  const runs = await history.past.runIds(prefix, MAX_NAMED);
  const threads = await history.past.threadIds(prefix, MAX_NAMED);
  const [id, ...others] = [...runs, ...threads];
  if (id === undefined) throw new Unavailable(`no run or thread begins with ${prefix}`);
  if (others.length > 0) {
    const isCut = Math.max(runs.length, threads.length) === MAX_NAMED;
    const named = [...runs.map((run) => `run ${run}`), ...threads.map((thread) => `thread ${thread}`)];
    const lines = [...named, ...(isCut ? ['…'] : [])].map((line) => `\n  ${line}`);
    throw new Error(`several runs or threads begin with ${prefix}:${lines.join('')}`);
  }
  if (runs.length === 0) return { threadId: id };
  const run = (await history.views.runs.get(id))!;
  return { threadId: run.threadId, run };
}

/** Returns the thread, or that of the run. */
export const findThread = async (history: History, given: string): Promise<string> =>
  (await findTarget(history, given)).threadId;

/** Returns the run, or the last run of the thread. */
export async function findRun(history: History, given: string | undefined): Promise<RunRecord> {
  const { threadId, run = await history.views.runs.latest(threadId) } = await findTarget(history, given);
  if (run === undefined) throw new Unavailable(`thread ${threadId} has no run`);
  return run;
}
