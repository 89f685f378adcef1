/** Whether runs have ended, and how. Asked at every wake-up of everybody who waits, so nothing else of a run is read. */
import { fromStored } from '../../../kernel/stored-json.ts';
import { opened, type RowReader } from '../../port/rows.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Outcome, ThreadEventMap } from '../../../thread/events.ts';
import { questionsOf, runEndOf } from '../../../thread/run-end.ts';
import { ofFact, type RunRecord } from './run-record.ts';
import type { ThreadStatus } from '../rows/threads.ts';

/** Whether the run exists and has not ended. */
export async function isRunOpen(rows: RowReader, runId: string): Promise<boolean> {
  return (
    rows.get('SELECT 1 AS open FROM runs WHERE run_id = @runId AND ended_at IS NULL', { runId }) !== undefined
  );
}

export type EndedRun = Pick<RunRecord, 'runId' | 'threadId' | 'outcome' | 'head'>;

/** 'open' until the run has ended; undefined when there is none. */
export async function endOfRun(rows: RowReader, runId: string): Promise<EndedRun | 'open' | undefined> {
  const row = rows.get<{
    thread_id: string;
    ended_at: number | null;
    outcome: string | null;
    head: string | null;
  }>('SELECT thread_id, ended_at, outcome, head FROM runs WHERE run_id = @runId', { runId });
  if (row === undefined) return undefined;
  const { thread_id: threadId, ended_at: endedAt, outcome, head } = row;
  if (endedAt === null) return 'open';
  return {
    ...{ runId, threadId, head },
    outcome: outcome === null ? null : (fromStored(outcome, 'outcome of run', runId) as Outcome),
  };
}

/** False for a run that nobody is to be told of. Most are: finding that out must not cost reading all of the run. */
export async function mayOweWebhook(rows: RowReader, runId: string): Promise<boolean> {
  const sql = `SELECT 1 AS found FROM runs WHERE run_id = @runId AND ${ofFact(`instr(${opened('data')}, '"webhook":')`)} > 0`;
  return rows.get(sql, { runId }) !== undefined;
}

export interface ThreadLeft {
  /** Without regard to runs that wait. */
  readonly status: ThreadStatus;
  readonly interrupts: JsonObject;
}

/** Returns the thread's state after the run's end. Call before that end is written. */
export async function threadLeftBy(
  rows: RowReader,
  { threadId, outcome, attempt, head }: ThreadEventMap['RunCompleted'],
): Promise<ThreadLeft | undefined> {
  const { thread: status } = runEndOf(outcome, { attempt, head });
  if (status !== 'as-before') return { status, interrupts: questionsOf(outcome) };
  const sql = 'SELECT settled, interrupts FROM threads WHERE thread_id = @threadId';
  const row = rows.get<{ settled: ThreadStatus; interrupts: string }>(sql, { threadId });
  return (
    row && {
      status: row.settled,
      interrupts: fromStored(row.interrupts, 'interrupts of thread', threadId) as JsonObject,
    }
  );
}
