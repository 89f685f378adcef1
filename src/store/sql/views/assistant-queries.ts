import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RowReader } from '../../port/rows.ts';
import { toContent, type AssistantVersionRecord, type ContentRow } from '../rows/assistant-content.ts';
import { conditionOf, metadataFilter, whereMatches, type Where } from './filters.ts';

export interface AssistantRecord extends AssistantVersionRecord {
  /** Made by the server for one of its graphs. */
  readonly system: boolean;
  readonly updatedAt: number;
}

export const ASSISTANT_SORTS = ['assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'] as const;

export interface AssistantSearch {
  readonly graphId?: string;
  /** Case-insensitive part of the name. */
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly sortBy: (typeof ASSISTANT_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

interface AssistantRow extends ContentRow {
  system: number;
  updated_at: number;
}

export async function getAssistant(
  rows: RowReader,
  assistantId: string,
  filter?: Filter,
  /** Whether the filter leaves out the server's own assistants, which everybody may read. */
  { systemToo = true }: { systemToo?: boolean } = {},
): Promise<AssistantRecord | undefined> {
  const where: Where = { clauses: ['assistant_id = @id'], params: { id: assistantId } };
  whereMatches(where, 'metadata', filter, { exempt: systemToo ? 'system = 1' : '0' });
  const row = rows.get<AssistantRow>(`SELECT * FROM assistants WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

/** The matches of one page, and how many there are in all. */
export async function searchAssistants(
  rows: RowReader,
  search: AssistantSearch,
  filter?: Filter,
): Promise<{ assistants: AssistantRecord[]; total: number }> {
  const where: Where = { clauses: [], params: {} };
  if (search.graphId !== undefined) {
    where.clauses.push('graph_id = @graph');
    where.params['graph'] = search.graphId;
  }
  if (search.name !== undefined) {
    where.clauses.push('instr(lower(name), lower(@name)) > 0');
    where.params['name'] = search.name;
  }
  whereMatches(where, 'metadata', metadataFilter(search.metadata));
  whereMatches(where, 'metadata', filter, { exempt: 'system = 1', parameter: 'access' });
  const condition = conditionOf(where);
  const order = search.sortOrder === 'asc' ? 'ASC' : 'DESC';
  const isText = search.sortBy === 'name' || search.sortBy === 'graph_id';
  const found = await rows.search<AssistantRow>(
    `SELECT * FROM assistants WHERE ${condition}
     ORDER BY ${isText ? `lower(${search.sortBy})` : search.sortBy} ${order}, assistant_id ${order} LIMIT @limit OFFSET @offset`,
    { ...where.params, limit: search.limit, offset: search.offset },
  );
  const [count] = await rows.search<{ n: number }>(
    `SELECT count(*) AS n FROM assistants WHERE ${condition}`,
    where.params,
  );
  return { assistants: found.map(toRecord), total: count!.n };
}

export interface AssistantRun {
  readonly runId: string;
  readonly threadId: string;
  /** Of a stateless run: the thread is there for this run alone. */
  readonly temporary: boolean;
  /** Some run of its thread has not ended. */
  readonly busy: boolean;
}

export async function runsOfAssistant(rows: RowReader, assistantId: string): Promise<AssistantRun[]> {
  const found = await rows.search<{
    run_id: string;
    thread_id: string;
    temporary: number;
    status: string;
  }>(
    `SELECT run_id, thread_id, temporary, threads.status FROM runs JOIN threads USING (thread_id)
     WHERE assistant_id = @assistantId ORDER BY position`,
    { assistantId },
  );
  return found.map((row) => ({
    runId: row.run_id,
    threadId: row.thread_id,
    temporary: row.temporary === 1,
    busy: row.status === 'busy',
  }));
}

const toRecord = (row: AssistantRow): AssistantRecord => ({
  system: row.system === 1,
  updatedAt: row.updated_at,
  ...toContent(row),
});
