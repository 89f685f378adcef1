import { breathe } from '../../../kernel/breathe.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { Cell } from '../../port/rows.ts';
import type { AssistantRun, RunRecord, RunSearch, RunViews } from '../../port/views/runs.ts';
import type { RunRef } from '../../../thread/events.ts';
import type { Ask, Scan } from '../ask.ts';
import { ofThread } from './any-thread.ts';
import { claimViews } from './claim-queries.ts';
import { conditionOf, judge, metadataFilter, passes, whereEqual, type Where } from './filters.ts';
import { EVERYWHERE } from './run-everywhere.ts';
import { runEndViews } from './run-end-queries.ts';
import {
  CREATED,
  kwargsOf,
  RUN,
  toRecord,
  toRunRef,
  type Created,
  type RunRefRow,
  type RunRow,
} from './run-record.ts';

/** Ids looked up at once. */
const PAGE_IDS = 500;

/** A run whose answer was refused has left the thread as it was. */
const LAST_STARTED = `FROM runs WHERE thread_id = @threadId AND turn IS NOT NULL AND started_at IS NOT NULL AND refused = 0
  ORDER BY turn DESC LIMIT 1`;

/** So many rows of one thread are read on the spot. */
const NEAR_ROWS = 100;

export function runViews(ask: Ask): RunViews {
  const one = async (where: string, params: Record<string, Cell>): Promise<RunRecord | undefined> => {
    const row = await ask.get<RunRow>(`SELECT ${RUN} FROM runs WHERE ${where} LIMIT 1`, params);
    return row && toRecord(row);
  };
  return {
    ...claimViews(ask),
    ...runEndViews(ask),
    async get(runId, { threadId, filter } = {}) {
      const where = whereEqual({ run_id: runId, 'runs.thread_id': threadId });
      const row = await ask.get<JudgedRow & RunRow>(
        `SELECT ${RUN}, ${ofThread('runs')} AS of_thread FROM runs WHERE ${conditionOf(where)}`,
        where.params,
      );
      return row && passes(row.of_thread, filter) ? toRecord(row) : undefined;
    },
    async list(search, filter) {
      // The runs of a thread are found by it alone when nothing else is asked of them.
      const isNear = search.limit + search.offset <= NEAR_ROWS;
      if (!isNear || search.status !== undefined || search.metadata !== undefined)
        return ask.scan(LIST, search, filter);
      const { threadId, limit, offset } = search;
      const found = await ask.all<JudgedRow>(
        `${listed(whereEqual({ 'runs.thread_id': threadId }))} LIMIT @limit OFFSET @offset`,
        {
          runs_thread_id: threadId,
          limit,
          offset,
        },
      );
      return passes(found[0]?.of_thread, filter) ? found.map((row) => row.run_id) : [];
    },
    everywhere: (search, filter) => ask.scan(EVERYWHERE, search, filter),
    toCancel: (wanted, filter) => ask.scan(TO_CANCEL, wanted, filter),
    ofAssistant: (assistantId) => ask.scan(OF_ASSISTANT, assistantId),
    async taken(runIds) {
      const taken: string[] = [];
      const sql = `SELECT run_id FROM runs WHERE ${ask.dialect.oneOf('run_id', 'ids')} ORDER BY run_id`;
      for (let first = 0; first < runIds.length; first += PAGE_IDS) {
        const ids = runIds.slice(first, first + PAGE_IDS);
        taken.push(...(await ask.all<{ run_id: string }>(sql, { ids })).map((row) => row.run_id));
        await breathe();
      }
      return taken;
    },
    async openOrders(runIds) {
      const sql = `SELECT run_id, ${CREATED} FROM runs WHERE ${ask.dialect.oneOf('run_id', 'ids')} ORDER BY run_id`;
      return (await ask.all<Created>(sql, { ids: runIds })).map(kwargsOf);
    },
    async lastStarted(threadId) {
      const row = await ask.get<{ graph_id: string; assistant_id: string }>(
        `SELECT graph_id, assistant_id ${LAST_STARTED}`,
        { threadId },
      );
      return row && { graphId: row.graph_id, assistantId: row.assistant_id };
    },
    lastEnded: (threadId, except = '') =>
      one(
        `run_id = (
           SELECT run_id FROM runs WHERE thread_id = @threadId AND run_id <> @except AND ended_at IS NOT NULL AND refused = 0
           ORDER BY ended_at DESC, created DESC LIMIT 1)`,
        { threadId, except },
      ),
    latest: (threadId) => one('thread_id = @threadId AND turn IS NOT NULL ORDER BY turn DESC', { threadId }),
    next: (threadId, ordinal) =>
      one('thread_id = @threadId AND turn > @ordinal ORDER BY turn', { threadId, ordinal }),
    async bound(threadId) {
      const row = await ask.get<{ run_id: string; graph_id: string; assistant_id: string; at: number }>(
        `SELECT run_id, graph_id, assistant_id, at FROM (
           SELECT * FROM (SELECT run_id, graph_id, assistant_id, started_at AS at ${LAST_STARTED}) AS run
           UNION ALL
           SELECT '', bound_graph_id, bound_assistant_id, bound_at FROM threads
             WHERE thread_id = @threadId AND bound_graph_id IS NOT NULL) AS bound
         ORDER BY at DESC, run_id DESC LIMIT 1`,
        { threadId },
      );
      if (row === undefined) return undefined;
      const bound = { graphId: row.graph_id, assistantId: row.assistant_id, at: row.at };
      return { bound, runId: row.run_id === '' ? null : row.run_id };
    },
  };
}

/** Newest first. */
const listed = (where: Where): string =>
  `SELECT run_id, runs.thread_id, runs.metadata AS own, ${ofThread('runs')} AS of_thread
   FROM runs WHERE ${conditionOf(where)}
   ORDER BY runs.created_at DESC, runs.created DESC`;

interface JudgedRow extends RunRefRow {
  readonly of_thread: string;
}

export const LIST: Scan<[RunSearch, Filter | undefined], string[]> = {
  name: 'runs.list',
  async answer(ask, { threadId, status, metadata, limit, offset }, filter) {
    const where = whereEqual({ 'runs.thread_id': threadId, 'runs.status': status });
    const wanted = metadataFilter(metadata);
    const { rows } = await judge<JudgedRow & { own: string }>(
      ask,
      { sql: listed(where), params: where.params },
      (row) => passes(row.own, wanted) && passes(row.of_thread, filter),
      { limit, offset, cap: offset + limit },
    );
    return rows.map((row) => row.run_id);
  },
};

export const TO_CANCEL: Scan<[Parameters<RunViews['toCancel']>[0], Filter | undefined], RunRef[]> = {
  name: 'runs.toCancel',
  async answer(ask, { threadId, runIds, status = 'all' }, filter) {
    const where = whereEqual({ 'runs.thread_id': threadId });
    if (runIds !== undefined) {
      where.clauses.push(ask.dialect.oneOf('run_id', 'ids'));
      where.params['ids'] = runIds;
    } else {
      where.clauses.push(ask.dialect.oneOf('runs.status', 'statuses'));
      where.params['statuses'] = status === 'all' ? ['pending', 'running'] : [status];
    }
    const sql = `SELECT run_id, runs.thread_id, ${ofThread('runs')} AS of_thread
      FROM runs WHERE ${conditionOf(where)}
      ORDER BY CASE WHEN runs.status = 'running' THEN 1 ELSE 0 END, runs.thread_id, runs.created DESC`;
    const all = { limit: Infinity, offset: 0 };
    const { rows } = await judge<JudgedRow>(
      ask,
      { sql, params: where.params },
      (row) => passes(row.of_thread, filter),
      all,
    );
    return rows.map(toRunRef);
  },
};

export const OF_ASSISTANT: Scan<[string], AssistantRun[]> = {
  name: 'runs.ofAssistant',
  async answer(ask, assistantId) {
    const found = await ask.all<RunRefRow & { temporary: number; status: string }>(
      `SELECT run_id, runs.thread_id, ${ofThread('runs', 'temporary')} AS temporary, ${ofThread('runs', 'status')} AS status
       FROM runs WHERE assistant_id = @assistantId ORDER BY runs.created_at, run_id`,
      { assistantId },
    );
    return found.map((row) => ({
      ...toRunRef(row),
      temporary: row.temporary === 1,
      busy: row.status === 'busy',
    }));
  },
};
