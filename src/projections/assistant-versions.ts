/** Reads the versions of assistants. */
import type { JsonObject } from '../kernel/json.ts';
import type { RowReader } from '../log/rows.ts';
import { toContent, type AssistantVersionRecord, type ContentRow } from './assistant-content.ts';
import { conditionOf, whereAllowed, whereContains, type AccessFilter, type Where } from './filters.ts';

export interface VersionSearch {
  readonly assistantId: string;
  readonly metadata?: JsonObject;
  readonly limit: number;
  readonly offset: number;
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
  const found = await rows.search<ContentRow>(
    `${FROM} WHERE ${conditionOf(where)} ORDER BY v.version DESC LIMIT @limit OFFSET @offset`,
    { ...where.params, limit: search.limit, offset: search.offset },
  );
  return found.map(toContent);
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
  const row = rows.get<ContentRow>(`${FROM} WHERE ${conditionOf(where)}`, where.params);
  return row && toContent(row);
}
