/** Filters of authorization handlers. A2 Anything malformed denies: the shapes are those of kernel/filter-syntax.ts. */
import { FilterError, parseFilter } from '../kernel/filter-syntax.ts';
import { keysOf, matchesFilter, type Filter } from '../kernel/filter.ts';
import type { JsonObject } from '../kernel/json.ts';
import { ToldFault } from './refusal.ts';

/** Copies a handler's filter to its normal form; undefined and `{}` give `[]`. Throws a `ToldFault`. */
export function parseAuthFilter(raw: unknown): Filter {
  try {
    return parseFilter(raw, 'scalar');
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const place = error.path === '' ? '' : ` at "${error.path}"`;
    throw new ToldFault(`auth filter${place}: ${error.problem}`);
  }
}

/**
 * True if the filter allows a metadata change. A write to a key that the filter names must give metadata that passes it;
 * otherwise a caller could move a resource to another owner.
 */
export function allowsWrite(written: JsonObject, resulting: JsonObject, filter: Filter): boolean {
  return !keysOf(filter).some((key) => Object.hasOwn(written, key)) || matchesFilter(resulting, filter);
}
