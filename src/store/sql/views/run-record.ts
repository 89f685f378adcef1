/** A run as it is read: its row, and what it was created with, which the fact itself still says. */
import type { JsonObject } from '../../../kernel/json.ts';
import { DamagedRow, fromStored } from '../../../kernel/stored-json.ts';
import { readData } from '../../port/events.ts';
import type { Cell } from '../../port/rows.ts';
import type { RunRecord } from '../../port/views/runs.ts';
import type { MultitaskStrategy, Outcome, RunKwargs, RunRef } from '../../../thread/events.ts';
import type { RunStatus } from '../../../thread/run-end.ts';
import type { Usage } from '../../../thread/usage.ts';

export interface RunRow {
  [column: string]: Cell;
  run_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  ended_at: number | null;
  status: string;
  metadata: string;
  created_data: string | null;
  created_schema: number | null;
  strategy: string;
  attempt: number;
  lease_id: string | null;
  outcome: string | null;
  cancel_reason: string | null;
  head: string | null;
  usage: string | null;
  turn: number | null;
}

/** A column of the fact that made the row of `runs` at hand, or an expression over its columns. */
const ofFact = (expression: string): string =>
  `(SELECT ${expression} FROM events
    WHERE events.stream = 'thread-' || runs.thread_id AND events.version = runs.created)`;

/**
 * Columns of `runs` that `kwargsOf` needs. What a run was created with may be long, and its row is written again with
 * each step of the run, so the row does not repeat it.
 */
export const CREATED = `${ofFact('data')} AS created_data, ${ofFact('schema')} AS created_schema`;
/** Columns of `runs` that `toRecord` needs. */
export const RUN = `runs.*, ${CREATED}`;

export type Created = Pick<RunRow, 'run_id' | 'created_data' | 'created_schema'>;

const FACT = 'fact that made run';

/** Throws `DamagedRow` when the fact is not there or no JSON object. */
export function kwargsOf({
  run_id: runId,
  created_data: created,
  created_schema: schema,
}: Created): RunKwargs {
  const data = created === null ? null : fromStored(created, FACT, runId);
  if (schema === null || typeof data !== 'object' || data === null) throw new DamagedRow(FACT, runId);
  return readData('RunCreated', schema, data)['kwargs'] as unknown as RunKwargs;
}

export function toRecord(row: RunRow): RunRecord {
  return {
    runId: row.run_id,
    threadId: row.thread_id,
    assistantId: row.assistant_id,
    graphId: row.graph_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    status: row.status as RunStatus,
    metadata: fromStored(row.metadata, 'metadata of run', row.run_id) as JsonObject,
    kwargs: kwargsOf(row),
    strategy: row.strategy as MultitaskStrategy,
    attempt: row.attempt,
    leaseId: row.lease_id,
    outcome: row.outcome === null ? null : (fromStored(row.outcome, 'outcome of run', row.run_id) as Outcome),
    cancelReason: row.cancel_reason,
    head: row.head,
    usage:
      row.usage === null ? null : (fromStored(row.usage, 'usage of run', row.run_id) as unknown as Usage),
    ordinal: row.turn,
  };
}

export interface RunRefRow {
  readonly [column: string]: Cell;
  readonly run_id: string;
  readonly thread_id: string;
}
export const toRunRef = ({ run_id: runId, thread_id: threadId }: RunRefRow): RunRef => ({ runId, threadId });
