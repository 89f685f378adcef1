/**
 * JavaScript functions that SQL queries call by name. A separate module, because the log's reader thread imports it
 * too: pure, without state of the main thread.
 */
import { matchesFilter, type Filter } from './auth/filters.ts';
import { matchesValue } from './item/filter.ts';
import type { JsonObject } from './kernel/json.ts';
import { ownModule } from './kernel/own-modules.ts';
import { fromStored } from './kernel/stored-json.ts';
import type { SqlFunctions } from './log/rows.ts';
import { containsJson } from './projections/filters.ts';

export const sqlFunctions: SqlFunctions = {
  json_contains: containsJson,
  item_matches: (value, filter) =>
    value !== null &&
    filter !== null &&
    matchesValue(fromStored(value, 'value of an item') as JsonObject, JSON.parse(filter) as JsonObject),
  access_allows: (metadata, filter) =>
    metadata !== null &&
    filter !== null &&
    matchesFilter(fromStored(metadata, 'metadata of a row') as JsonObject, JSON.parse(filter) as Filter),
};

/** URL from which the reader thread imports this module. */
export const sqlFunctionsModule = ownModule('sql-functions').href;
