/** Reads the versions of assistants. */
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { RowReader } from '../../port/rows.ts';
import { toContent, type AssistantVersionRecord, type ContentRow } from '../rows/assistant-content.ts';
import { conditionOf, metadataFilter, whereMatches, type Where } from './filters.ts';

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
  filter?: Filter,
): Promise<AssistantVersionRecord[]> {
  const where: Where = { clauses: ['v.assistant_id = @id'], params: { id: search.assistantId } };
  whereMatches(where, 'v.metadata', metadataFilter(search.metadata));
  const access = { exempt: 'a.system = 1', parameter: 'access' };
  whereMatches(where, 'a.metadata', filter, access);
  whereMatches(where, 'v.metadata', filter, access);
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
  filter?: Filter,
): AssistantVersionRecord | undefined {
  const where: Where = {
    clauses: ['v.assistant_id = @id', 'v.version = @version'],
    params: { id: assistantId, version },
  };
  whereMatches(where, 'v.metadata', filter);
  const row = rows.get<ContentRow>(`${FROM} WHERE ${conditionOf(where)}`, where.params);
  return row && toContent(row);
}
