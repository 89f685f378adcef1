/** Reads the versions of assistants. */
import type { AssistantContent } from '../assistant/events.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Cell, RowReader } from '../log/rows.ts';
import { conditionOf, whereAllowed, whereContains, type AccessFilter, type Where } from './filters.ts';

export interface AssistantVersionRecord extends AssistantContent {
  readonly assistantId: string;
  readonly version: number;
  /** When this version was made. */
  readonly createdAt: number;
}

export interface VersionSearch {
  readonly assistantId: string;
  readonly metadata?: JsonObject;
  readonly limit: number;
  readonly offset: number;
}

interface VersionRow {
  [column: string]: Cell;
  assistant_id: string;
  version: number;
  graph_id: string;
  name: string;
  description: string | null;
  config: string;
  context: string;
  metadata: string;
  created_at: number;
}

const FROM = 'SELECT v.* FROM assistant_versions AS v JOIN assistants AS a USING (assistant_id)';

/** Newest version first. The filter has to let both the assistant and the version through. */
export async function listVersions(
  rows: RowReader,
  search: VersionSearch,
  filter?: AccessFilter,
): Promise<AssistantVersionRecord[]> {
  const where: Where = { clauses: ['v.assistant_id = @id'], params: { id: search.assistantId } };
  whereContains(where, 'v.metadata', search.metadata);
  whereAllowed(where, 'a.metadata', filter, 'a.system = 1');
  whereAllowed(where, 'v.metadata', filter, 'a.system = 1');
  const found = await rows.search<VersionRow>(
    `${FROM} WHERE ${conditionOf(where)} ORDER BY v.version DESC LIMIT @limit OFFSET @offset`,
    { ...where.params, limit: search.limit, offset: search.offset },
  );
  return found.map(toRecord);
}

/** At once and not as a promise: the write path asks in the middle of a decision. */
export function getVersion(
  rows: RowReader,
  assistantId: string,
  version: number,
  filter?: AccessFilter,
): AssistantVersionRecord | undefined {
  const where: Where = {
    clauses: ['v.assistant_id = @id', 'v.version = @version'],
    params: { id: assistantId, version },
  };
  whereAllowed(where, 'v.metadata', filter);
  const row = rows.get<VersionRow>(`${FROM} WHERE ${conditionOf(where)}`, where.params);
  return row && toRecord(row);
}

function toRecord(row: VersionRow): AssistantVersionRecord {
  return {
    assistantId: row.assistant_id,
    version: row.version,
    graphId: row.graph_id,
    name: row.name,
    description: row.description,
    config: JSON.parse(row.config) as JsonObject,
    context: JSON.parse(row.context) as Json,
    metadata: JSON.parse(row.metadata) as JsonObject,
    createdAt: row.created_at,
  };
}
