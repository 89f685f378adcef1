/** A verdict of `dev` on a save, for a terminal and for clients. */
import type { JsonObject } from '../kernel/json.ts';
import { toTimestamp } from '../kernel/clock.ts';
import type { Reexecution } from '../past/reexecution/execute.ts';
import { toJsonReport } from '../past/reexecution/print.ts';

export interface Verdict {
  readonly result: Reexecution;
  /** Time of the verdict, in milliseconds since 1970. */
  readonly at: number;
  readonly tookMs: number;
}

export const toJson = ({ result, at, tookMs }: Verdict): JsonObject => {
  const { threadId, runId, graphId, ...report } = toJsonReport(result) as JsonObject;
  const run = { run_id: runId!, thread_id: threadId!, graph_id: graphId! };
  return { ...run, at: toTimestamp(at), took_ms: Math.round(tookMs), ...report };
};
