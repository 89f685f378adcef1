/**
 * The input of a run that goes on without one, on a thread where nothing is saved: that of the run before it, which
 * failed before its graph could save anything. Its module did not load, or it is a function that threw when nothing
 * told yet whether it is a graph or makes one.
 */
import type { Json } from '../kernel/json.ts';
import type { RowReader } from '../log/rows.ts';
import { getRun, listRuns, type RunRecord } from '../projections/run-queries.ts';

/** More failures in a row than this are not looked through. */
const MAX_RUNS = 100;

/** `head`: the thread's head checkpoint. Null when no failed run has left an input. */
export async function inputOf(rows: RowReader, run: RunRecord, head: string | null): Promise<Json> {
  const { input, command } = run.kwargs;
  if (input !== null || command !== undefined || head !== null) return input;
  for (const runId of await listRuns(rows, { threadId: run.threadId, limit: MAX_RUNS, offset: 0 })) {
    const earlier = runId === run.runId ? undefined : await getRun(rows, runId);
    if (earlier === undefined || earlier.endedAt === null) continue;
    const hasFailed = earlier.status === 'error' || earlier.status === 'timeout';
    if (!hasFailed || earlier.kwargs.command !== undefined) return null;
    if (earlier.kwargs.input !== null) return earlier.kwargs.input;
  }
  return null;
}
