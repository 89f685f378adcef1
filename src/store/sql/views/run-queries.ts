/** Reads runs. Access to a run is access to its thread: filters are matched against the thread's metadata. */
import { breathe } from '../../../kernel/breathe.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { opened, type Cell, type RowReader } from '../../port/rows.ts';
import type { Bound, RunKwargs, RunRef } from '../../../thread/events.ts';
import { conditionOf, metadataFilter, whereMatches, type Where } from './filters.ts';
import { CREATED, kwargsOf, RUN, toRecord, type Created, type RunRecord, type RunRow } from './run-record.ts';
import type { RunStatus } from '../../../thread/run-end.ts';

export type { RunRecord };

interface RunRefRow {
  readonly [column: string]: Cell;
  readonly run_id: string;
  readonly thread_id: string;
}
const toRunRef = ({ run_id: runId, thread_id: threadId }: RunRefRow): RunRef => ({ runId, threadId });

const FROM = 'FROM runs JOIN threads USING (thread_id)';

/** With a thread id, a run of another thread is as missing as one that never was. */
export const getRun = async (...asked: Parameters<typeof readRun>): Promise<RunRecord | undefined> =>
  readRun(...asked);

/** The same for those who cannot wait: what they do has to be done before anybody hears of the commit. */
export function readRun(
  rows: RowReader,
  runId: string,
  options: { threadId?: string | undefined; filter?: Filter | undefined } = {},
): RunRecord | undefined {
  const where: Where = { clauses: ['run_id = @id'], params: { id: runId } };
  if (options.threadId !== undefined) {
    where.clauses.push('runs.thread_id = @thread');
    where.params['thread'] = options.threadId;
  }
  if (options.threadId !== undefined) where.clauses.push('threads.temporary < 2');
  whereMatches(where, 'threads.metadata', options.filter);
  const row = rows.get<RunRow>(`SELECT ${RUN} ${FROM} WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

/** Ids looked up at once. */
const PAGE_IDS = 500;

/** Those of the ids that runs of this log have. */
export async function takenRuns(rows: RowReader, runIds: readonly string[]): Promise<string[]> {
  const taken: string[] = [];
  for (let first = 0; first < runIds.length; first += PAGE_IDS) {
    const ids = JSON.stringify(runIds.slice(first, first + PAGE_IDS));
    const sql = 'SELECT run_id FROM runs WHERE run_id IN (SELECT value FROM json_each(@ids))';
    taken.push(...rows.all<{ run_id: string }>(sql, { ids }).map((row) => row.run_id));
    await breathe();
  }
  return taken;
}

/** What the thread's runs that wait or execute were created with. */
export async function openOrders(rows: RowReader, threadId: string): Promise<RunKwargs[]> {
  const open = rows.all<Created>(
    `SELECT run_id, ${CREATED} FROM runs INDEXED BY runs_running WHERE thread_id = @threadId AND status = 'running'
     UNION ALL
     SELECT run_id, ${CREATED} FROM runs INDEXED BY runs_pending_by_thread WHERE thread_id = @threadId AND status = 'pending'`,
    { threadId },
  );
  return open.map(kwargsOf);
}

/**
 * A run whose answer was refused has left the thread as it was. Outcomes are stored with their kind first; a quote
 * within a text is escaped, so no message looks like the member.
 */
const HAS_ACTED = `(outcome IS NULL OR ${opened('outcome')} NOT GLOB '{"kind":"error",*,"refusal":{*')`;

/** A run that has begun ends before another one of its thread begins, so the greatest ordinal started last. */
const LAST_STARTED = `FROM runs INDEXED BY runs_by_turn
  WHERE thread_id = @threadId AND turn IS NOT NULL AND started_at IS NOT NULL AND ${HAS_ACTED}
  ORDER BY turn DESC LIMIT 1`;

/** The run of the thread that started last and was not refused: whose graph the thread's state is of. */
export async function lastStartedRun(
  rows: RowReader,
  threadId: string,
): Promise<{ graphId: string; assistantId: string } | undefined> {
  const row = rows.get<{ graph_id: string; assistant_id: string }>(
    `SELECT graph_id, assistant_id ${LAST_STARTED}`,
    { threadId },
  );
  return row && { graphId: row.graph_id, assistantId: row.assistant_id };
}

/** The first run of the thread with an ordinal above `ordinal`. */
export async function nextRun(
  rows: RowReader,
  threadId: string,
  ordinal: number,
): Promise<RunRecord | undefined> {
  const row = rows.get<RunRow>(
    `SELECT ${RUN} FROM runs WHERE thread_id = @threadId AND turn > @ordinal ORDER BY turn LIMIT 1`,
    { threadId, ordinal },
  );
  return row && toRecord(row);
}

/** The run of the thread with the greatest ordinal. */
export async function latestRun(rows: RowReader, threadId: string): Promise<RunRecord | undefined> {
  const row = rows.get<RunRow>(
    `SELECT ${RUN} FROM runs WHERE thread_id = @threadId AND turn IS NOT NULL ORDER BY turn DESC LIMIT 1`,
    { threadId },
  );
  return row && toRecord(row);
}

/** The run of the thread that ended last and was not refused, but `except`. */
export async function lastEndedRun(
  rows: RowReader,
  threadId: string,
  except = '',
): Promise<RunRecord | undefined> {
  const row = rows.get<RunRow>(
    `SELECT ${RUN} FROM runs WHERE position = (
       SELECT position FROM runs WHERE thread_id = @threadId AND run_id <> @except AND ended_at IS NOT NULL AND ${HAS_ACTED}
       ORDER BY ended_at DESC, position DESC LIMIT 1)`,
    { threadId, except },
  );
  return row && toRecord(row);
}

/** The graph that a thread's state is of: of its run that started last, or of a later one that is gone. */
export const boundGraph = async (rows: RowReader, threadId: string): Promise<Bound | undefined> =>
  (await boundRun(rows, threadId))?.bound;

/** The same, and the run while it is there. */
export async function boundRun(
  rows: RowReader,
  threadId: string,
): Promise<{ readonly bound: Bound; readonly runId: string | null } | undefined> {
  const row = rows.get<{ run_id: string | null; graph_id: string; assistant_id: string; at: number }>(
    `SELECT run_id, graph_id, assistant_id, at FROM (
       SELECT * FROM (SELECT run_id, graph_id, assistant_id, started_at AS at, position ${LAST_STARTED})
       UNION ALL
       SELECT NULL, bound_graph_id, bound_assistant_id, bound_at, 0 FROM threads
         WHERE thread_id = @threadId AND bound_graph_id IS NOT NULL)
     ORDER BY at DESC, position DESC LIMIT 1`,
    { threadId },
  );
  if (row === undefined) return undefined;
  return { bound: { graphId: row.graph_id, assistantId: row.assistant_id, at: row.at }, runId: row.run_id };
}

export interface RunSearch {
  readonly threadId: string;
  readonly status?: RunStatus;
  readonly metadata?: JsonObject;
  readonly limit: number;
  readonly offset: number;
}

/** So many rows of one thread are read on the spot. */
const NEAR = 100;

/** Their ids, newest first: each may be large, and is read by itself. */
export async function listRuns(rows: RowReader, search: RunSearch, filter?: Filter): Promise<string[]> {
  const where: Where = { clauses: ['runs.thread_id = @thread'], params: { thread: search.threadId } };
  if (search.status !== undefined) {
    where.clauses.push('runs.status = @status');
    where.params['status'] = search.status;
  }
  whereMatches(where, 'runs.metadata', metadataFilter(search.metadata));
  whereMatches(where, 'threads.metadata', filter, { parameter: 'access' });
  const sql = `SELECT run_id ${FROM} WHERE ${conditionOf(where)}
     ORDER BY runs.created_at DESC, runs.position DESC LIMIT @limit OFFSET @offset`;
  const params = { ...where.params, limit: search.limit, offset: search.offset };
  const isNear = search.limit + search.offset <= NEAR;
  const found =
    isNear && search.status === undefined && search.metadata === undefined
      ? rows.all<{ run_id: string }>(sql, params)
      : await rows.search<{ run_id: string }>(sql, params);
  return found.map((row) => row.run_id);
}

/**
 * The listed runs, whatever they are at, or all that wait or execute. Those that wait come first: cancelled later, one
 * of them would start when the run before it has ended.
 */
export async function runsToCancel(
  rows: RowReader,
  wanted: { threadId?: string; runIds?: readonly string[]; status?: 'pending' | 'running' | 'all' },
  filter?: Filter,
): Promise<RunRef[]> {
  const where: Where = { clauses: [], params: {} };
  if (wanted.threadId !== undefined) {
    where.clauses.push('runs.thread_id = @thread');
    where.params['thread'] = wanted.threadId;
  }
  if (wanted.runIds !== undefined) {
    where.clauses.push('run_id IN (SELECT value FROM json_each(@ids))');
    where.params['ids'] = JSON.stringify(wanted.runIds);
  } else {
    where.clauses.push("runs.status IN ('pending', 'running') AND @status IN ('all', runs.status)");
    where.params['status'] = wanted.status ?? 'all';
  }
  whereMatches(where, 'threads.metadata', filter);
  const found = await rows.search<RunRefRow>(
    `SELECT run_id, thread_id ${FROM} WHERE ${conditionOf(where)} ORDER BY runs.status = 'running', runs.position DESC`,
    where.params,
  );
  return found.map(toRunRef);
}

/** A delayed run counts as created when it is due, so those of later days are at the end and not looked at. */
const HORIZON_MS = 24 * 3_600_000;

/** Runs that may start now: nothing runs beside them in their thread (X1), and what `where` says. */
const claimable = (index: string, where: string): string =>
  `SELECT run_id, thread_id FROM runs AS candidate INDEXED BY ${index}
   WHERE status = 'pending' AND ${where}
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_running
       WHERE other.thread_id = candidate.thread_id AND other.status = 'running')
   ORDER BY created_at, position LIMIT @limit`;

/** Runs that have begun, whatever the clock says now. */
const CLAIMABLE_AGAIN = claimable('runs_begun', 'attempt > 0');

/** `@ahead` for runs that a clock ahead of `@now` has created, else `@now`. Until then, `updated_at` is their creation. */
const due = (run: string): string =>
  `${run}.not_before <= @ahead AND (${run}.not_before <= @now OR ${run}.updated_at > @now)`;

/** Runs that have not, are due, and are the first of their thread. */
const CLAIMABLE_ANEW = claimable(
  'runs_pending',
  `attempt = 0 AND created_at <= @horizon AND ${due('candidate')}
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_begun
       WHERE other.thread_id = candidate.thread_id AND other.status = 'pending' AND other.attempt > 0)
     AND NOT EXISTS (SELECT 1 FROM runs AS other INDEXED BY runs_pending_by_thread
       WHERE other.thread_id = candidate.thread_id AND other.status = 'pending' AND ${due('other')}
         AND (other.created_at, other.position) < (candidate.created_at, candidate.position))`,
);

/**
 * Runs that may start now. Those that have begun come first, also when the clock was set back since: what a run saved is
 * what the others of its thread begin with. Then the oldest; those of one millisecond in the order in which they were
 * accepted: an id is made before that. `ahead`: `now` by the clock that created runs later than `now` (`runLead`).
 */
export async function claimableRuns(
  rows: RowReader,
  now: number,
  limit: number,
  ahead = now,
): Promise<RunRef[]> {
  const found = rows.all<RunRefRow>(CLAIMABLE_AGAIN, { limit });
  const rest = { now, ahead, horizon: ahead + HORIZON_MS, limit: limit - found.length };
  if (rest.limit > 0) found.push(...rows.all<RunRefRow>(CLAIMABLE_ANEW, rest));
  return found.map(toRunRef);
}

/** When the next delayed run becomes due. */
export async function nextDueRun(rows: RowReader, now: number): Promise<number | undefined> {
  const row = rows.get<{ at: number | null }>(
    `SELECT min(not_before) AS at FROM runs WHERE status = 'pending' AND not_before > @now`,
    { now },
  );
  return row?.at ?? undefined;
}

/** Returns by how many milliseconds a clock was ahead of `now` when it created runs that have not begun. */
export async function runLead(rows: RowReader, now: number): Promise<number> {
  const row = rows.get<{ at: number | null }>(
    `SELECT max(updated_at) AS at FROM runs INDEXED BY runs_pending
     WHERE status = 'pending' AND created_at > @now AND attempt = 0 AND updated_at > @now`,
    { now },
  );
  return (row?.at ?? now) - now;
}

export async function runningRuns(rows: RowReader): Promise<RunRef[]> {
  return rows.all<RunRefRow>(`SELECT run_id, thread_id FROM runs WHERE status = 'running'`).map(toRunRef);
}
