/**
 * Finds the input for a run that has none, on a thread without checkpoints: the input of the preceding run, which
 * failed before its graph could save. Causes are a module that does not load, or a graph factory that throws.
 */
import type { Json } from '../kernel/json.ts';
import type { EventLog } from '../store/port/log.ts';
import type { OrderedRun } from '../graphs/run-order.ts';

/** Bound on preceding failed runs that are examined. */
const MAX_RUNS = 100;

/** `head`: the thread's head checkpoint. Returns null when no failed run left an input. */
export async function inputOf({ views }: EventLog, run: OrderedRun, head: string | null): Promise<Json> {
  const { input, command } = run.kwargs;
  if (input !== null || command !== undefined || head !== null) return input;
  for (const runId of await views.runs.list({ threadId: run.threadId, limit: MAX_RUNS, offset: 0 })) {
    const earlier = runId === run.runId ? undefined : await views.runs.get(runId);
    if (earlier === undefined || earlier.endedAt === null) continue;
    const hasFailed = earlier.status === 'error' || earlier.status === 'timeout';
    if (!hasFailed || earlier.kwargs.command !== undefined) return null;
    if (earlier.kwargs.input !== null) return earlier.kwargs.input;
  }
  return null;
}
