/** Runs: those of a thread, those of all threads, and what can be done with one. */
import { readEvents } from './follow.ts';
import { ask, send } from './http.ts';
import type { JsonObject, Json, Run, RunDiff } from './types.ts';

const MAX_RUNS_OF_THREAD = 200;

/** Newest first. */
export const runsOf = (threadId: string): Promise<readonly Run[]> =>
  ask(`/threads/${threadId}/runs`, { query: { limit: MAX_RUNS_OF_THREAD } });

export interface NewRun {
  readonly assistant_id: string;
  readonly input?: Json;
  readonly command?: JsonObject;
  readonly checkpoint_id?: string;
}

/** Streams tokens and steps, so that an open page shows them. */
export const startRun = (threadId: string, run: NewRun): Promise<Run> =>
  ask(`/threads/${threadId}/runs`, {
    method: 'POST',
    body: { ...run, stream_mode: ['messages-tuple', 'updates', 'custom'], stream_subgraphs: true },
  });

export const cancelRun = ({ thread_id, run_id }: Pick<Run, 'thread_id' | 'run_id'>): Promise<void> =>
  ask(`/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' });

export const diffRuns = (a: string, b: string): Promise<RunDiff> => ask('/runs/diff', { query: { a, b } });

/** The report of a re-execution; a verdict of a save has the same shape. */
export interface Report {
  readonly verdict: 'equal' | 'different' | 'untried';
  readonly run_id?: string;
  readonly thread_id?: string;
  readonly graph_id?: string;
  readonly at?: string;
  readonly took_ms?: number;
  readonly reasons?: readonly string[];
  readonly exchanges?: number;
  readonly closedBy?: readonly string[];
  readonly comparison?: {
    readonly checkpoints: number;
    readonly writes: number;
    readonly frames?: number;
    readonly divergence?: Divergence;
  };
  readonly request?: {
    readonly task: string;
    readonly path?: string;
    readonly recorded?: Sent;
    readonly found: Sent;
  };
}

interface Divergence {
  readonly what: string;
  readonly step?: number;
  readonly node?: string;
  readonly channel?: string;
  readonly path?: string;
  readonly recorded?: Json;
  readonly found?: Json;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body?: string;
}

/** Executes the run again, offline. */
export async function replayRun(threadId: string, runId: string, body: JsonObject = {}): Promise<Report> {
  const reply = await send(`/threads/${threadId}/runs/${runId}/replay`, { method: 'POST', body });
  let report: Report | undefined;
  await readEvents(reply, ({ event, data }) => {
    if (event === 'report') report = JSON.parse(data) as Report;
  });
  if (report === undefined) throw new Error('The re-execution ended without a report.');
  return report;
}

export interface OpenRun extends Run {
  readonly graph_id: string;
  readonly title: string | null;
  /** 0 before the first start. */
  readonly attempt: number;
  readonly started_at: string | null;
  /** Time from its creation to its first start, or to now. */
  readonly queued_ms: number;
  /** Process id. */
  readonly worker: number | null;
}

/** Runs of all threads that wait or run now, newest first. */
export const openRuns = (): Promise<readonly OpenRun[]> =>
  ask('/runs', { query: { status: 'pending,running', limit: 100 } });
