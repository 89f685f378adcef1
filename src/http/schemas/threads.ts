import { z } from 'zod';
import { THREAD_SORTS } from '../../projections/thread-queries.ts';
import { supersteps } from './thread-state.ts';
import { jsonObject, limit, list, offset, oneOf, optional, select, sortOrder, uuid } from './common.ts';

/** A member of the interface that this version does not serve: refused by name rather than ignored. */
const notServed = (field: string) =>
  z
    .custom<undefined>((value) => value === undefined || value === null, `${field} is not supported`)
    .optional();

export const threadCreate = z.object({
  thread_id: optional(uuid),
  metadata: optional(jsonObject),
  if_exists: optional(oneOf(['raise', 'do_nothing'])),
  supersteps: optional(supersteps),
  ttl: notServed('ttl'),
});

export const threadPatch = z.object({ metadata: optional(jsonObject), ttl: notServed('ttl') });

export const threadSearch = z.object({
  ids: optional(list(uuid, 1000, 'expected a list of UUIDs')),
  metadata: optional(jsonObject),
  status: optional(oneOf(['idle', 'busy', 'interrupted', 'error'])),
  sort_by: oneOf(THREAD_SORTS)
    .nullish()
    .transform((value) => value ?? 'updated_at'),
  sort_order: sortOrder,
  limit: limit(10),
  offset,
  select: optional(select),
  values: notServed('values'),
  extract: notServed('extract'),
});
