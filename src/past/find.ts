/** Finds threads and runs by the first characters of their ids. */
import { isUuid } from '../kernel/ids.ts';
import type { History } from '../store/port/past.ts';
import type { RunRecord } from '../store/port/views/runs.ts';

/** Beginning of an id as the replay prints it, with or without the ellipsis. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}…?$/i;
const MAX_NAMED = 5;

const toPrefix = (given: string): string => given.replace('…', '').toLowerCase();

/** Throws for a text that cannot be the beginning of an id. */
export function assertPrefix(given: string): void {
  if (!PREFIX.test(given))
    throw new Error(`--thread: expected an id or its first characters, found "${given}"`);
}

/** Returns the id of the thread. Throws when none or several are found. */
export async function findThread(history: History, given: string): Promise<string> {
  assertPrefix(given);
  const prefix = toPrefix(given);
  if (isUuid(prefix)) return prefix;
  const ids = await history.past.threadIds(prefix, MAX_NAMED);
  const [id] = ids;
  if (id === undefined) throw new Error(`--thread: found no thread whose id begins with ${prefix}`);
  if (ids.length > 1)
    throw new Error(`--thread: found several threads that begin with ${prefix}: ${ids.join(', ')}`);
  return id;
}

/** Returns the one of a thread's runs. Throws when none or several are found. */
export function findRunOf(threadId: string, runIds: readonly string[], given: string): string {
  const prefix = toPrefix(given);
  const found = runIds.filter((id) => id.startsWith(prefix));
  if (found.length === 1) return found[0]!;
  throw new Error(
    found.length === 0
      ? `--run: thread ${threadId} has no run whose id begins with ${prefix}`
      : `--run: several runs begin with ${prefix}: ${found.join(', ')}`,
  );
}

/** Returns the run, or the last run of the thread. Throws when none or several are found. */
export async function findRun(history: History, given: string): Promise<RunRecord> {
  if (!PREFIX.test(given))
    throw new Error(`expected the id of a run or thread, or its first characters, found "${given}"`);
  const prefix = toPrefix(given);
  const runs = await history.past.runIds(prefix, MAX_NAMED);
  const threads = await history.past.threadIds(prefix, MAX_NAMED);
  const found = new Map<string, RunRecord>();
  for (const runId of runs) found.set(runId, (await history.views.runs.get(runId))!);
  for (const threadId of threads) {
    const last = await history.views.runs.latest(threadId);
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
