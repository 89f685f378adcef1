/** Finds a run by the first characters of its id, or of its thread's. */
import type { History } from '../log/sqlite/history.ts';
import { latestRun, readRun, type RunRecord } from '../projections/run-queries.ts';

/** Id prefix as the replay prints it, with or without the ellipsis. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}…?$/i;
const MAX_NAMED = 5;

/** Returns the run; the last one where a thread is named. Throws when nothing or several are found. */
export async function findRun(history: History, given: string): Promise<RunRecord> {
  if (!PREFIX.test(given))
    throw new Error(`expected the id of a run or thread, or its first characters, found "${given}"`);
  const prefix = given.replace('…', '').toLowerCase();
  const runs = await history.views.runIds(prefix, MAX_NAMED);
  const threads = await history.views.threadIds(prefix, MAX_NAMED);
  const found = new Map<string, RunRecord>();
  for (const runId of runs) found.set(runId, readRun(history.rows, runId)!);
  for (const threadId of threads) {
    const last = await latestRun(history.rows, threadId);
    if (last !== undefined) found.set(last.runId, last);
  }
  const [run] = found.values();
  if (run !== undefined && found.size === 1) return run;
  if (found.size > 1)
    throw new Error(`several runs or threads begin with ${prefix}: ${[...runs, ...threads].join(', ')}`);
  const [threadId] = threads;
  throw new Error(
    threadId === undefined ? `no run or thread begins with ${prefix}` : `thread ${threadId} has no run`,
  );
}
