import type { Filter } from '../../../kernel/filter.ts';
import type { AssistantRecord, AssistantSearch, AssistantViews } from '../../port/views/assistants.ts';
import type { Ask, Scan } from '../ask.ts';
import { toContent, type ContentRow } from '../rows/assistant-content.ts';
import { conditionOf, judge, metadataFilter, passes, whereEqual } from './filters.ts';
import { getVersion, VERSIONS } from './assistant-versions.ts';

interface AssistantRow extends ContentRow {
  system: number;
  updated_at: number;
}

export const assistantViews = (ask: Ask): AssistantViews => ({
  async get(assistantId, filter, { systemToo = true } = {}) {
    const sql = 'SELECT * FROM assistants WHERE assistant_id = @assistantId';
    const row = await ask.get<AssistantRow>(sql, { assistantId });
    if (row === undefined || !((systemToo && row.system === 1) || passes(row.metadata, filter)))
      return undefined;
    return toRecord(row);
  },
  search: (search, filter) => ask.scan(SEARCH, search, filter),
  versions: (search, filter) => ask.scan(VERSIONS, search, filter),
  version: (...asked) => getVersion(ask, ...asked),
});

export const SEARCH: Scan<
  [AssistantSearch, Filter | undefined],
  { assistants: AssistantRecord[]; total: number }
> = {
  name: 'assistants.search',
  async answer(ask, search, filter) {
    const where = whereEqual({ graph_id: search.graphId });
    if (search.name !== undefined && search.name !== '') {
      // All engines replace texts in the same way, but a parameter has the language of the database.
      where.clauses.push("replace(lower(name), @name, '') <> lower(name)");
      where.params['name'] = lower(search.name);
    }
    const order = search.sortOrder === 'asc' ? 'ASC' : 'DESC';
    const isText = search.sortBy === 'name' || search.sortBy === 'graph_id';
    const sql = `SELECT * FROM assistants WHERE ${conditionOf(where)}
      ORDER BY ${isText ? `lower(${search.sortBy})` : search.sortBy} ${order}, assistant_id ${order}`;
    const wanted = metadataFilter(search.metadata);
    const { rows, total } = await judge<AssistantRow>(
      ask,
      { sql, params: where.params },
      ({ name, metadata, system }) =>
        // An engine that escapes characters finds more.
        lower(name).includes(lower(search.name ?? '')) &&
        passes(metadata, wanted) &&
        (system === 1 || passes(metadata, filter)),
      search,
    );
    return { assistants: rows.map(toRecord), total };
  },
};

/** As engines do it: other letters keep their case. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const toRecord = (row: AssistantRow): AssistantRecord => ({
  system: row.system === 1,
  updatedAt: row.updated_at,
  ...toContent(row),
});
