import { z } from 'zod';
import { ASSISTANT_SORTS } from '../../projections/assistant-queries.ts';
import { jsonObject, limit, name, offset, oneOf, optional, select, sortOrder } from './common.ts';

export const assistantSearch = z.object({
  metadata: optional(jsonObject),
  graph_id: optional(name),
  name: optional(name),
  sort_by: oneOf(ASSISTANT_SORTS)
    .nullish()
    .transform((value) => value ?? 'created_at'),
  sort_order: sortOrder,
  limit: limit(10),
  offset,
  select: optional(select),
});
