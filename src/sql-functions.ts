/**
 * JavaScript functions that SQL queries call by name. A separate module, because the log's reader thread imports it
 * too: pure, without state of the main thread.
 */
import { ownModule } from './kernel/own-modules.ts';
import type { SqlFunctions } from './store/port/rows.ts';
import { containsJson, createFilterMatches } from './store/sql/views/filters.ts';

export const sqlFunctions: SqlFunctions = {
  json_contains: containsJson,
  filter_matches: createFilterMatches(),
};

/** URL from which the reader thread imports this module. */
export const sqlFunctionsModule = ownModule('sql-functions').href;
