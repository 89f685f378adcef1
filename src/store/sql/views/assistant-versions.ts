/** Reads the versions of assistants. */
import type { Filter } from '../../../kernel/filter.ts';
import type { AssistantVersionRecord, VersionSearch } from '../../port/views/assistants.ts';
import type { Ask, Scan } from '../ask.ts';
import { toContent, type ContentRow } from '../rows/assistant-content.ts';
import { judge, metadataFilter, passes } from './filters.ts';

export const VERSIONS: Scan<[VersionSearch, Filter | undefined], AssistantVersionRecord[]> = {
  name: 'assistants.versions',
  async answer(ask, { assistantId, metadata, limit, offset }, filter) {
    const sql = `SELECT v.*, a.system, a.metadata AS own FROM assistant_versions AS v
      JOIN assistants AS a ON a.assistant_id = v.assistant_id
      WHERE v.assistant_id = @assistantId ORDER BY v.version DESC`;
    const wanted = metadataFilter(metadata);
    const { rows } = await judge<ContentRow & { system: number; own: string }>(
      ask,
      { sql, params: { assistantId } },
      (row) =>
        passes(row.metadata, wanted) &&
        (row.system === 1 || (passes(row.own, filter) && passes(row.metadata, filter))),
      { limit, offset, cap: offset + limit },
    );
    return rows.map(toContent);
  },
};

export async function getVersion(
  ask: Ask,
  assistantId: string,
  version: number,
  filter?: Filter,
): Promise<AssistantVersionRecord | undefined> {
  const row = await ask.get<ContentRow>(
    'SELECT * FROM assistant_versions WHERE assistant_id = @assistantId AND version = @version',
    { assistantId, version },
  );
  return row && passes(row.metadata, filter) ? toContent(row) : undefined;
}
