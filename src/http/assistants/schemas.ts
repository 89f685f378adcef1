import { z } from 'zod';
import type { JsonObject } from '../../kernel/json.ts';
import { ASSISTANT_SORTS } from '../../projections/assistant-queries.ts';
import {
  jsonObject,
  limit,
  name,
  offset,
  oneOf,
  optional,
  ownMetadata,
  selectOf,
  sortOrder,
  uuid,
} from '../fields.ts';
import { runConfig } from '../runs/schemas.ts';

const description = z
  .string('expected a string')
  .max(10_000, 'expected at most 10000 characters')
  .refine((text) => text.isWellFormed(), 'expected plain text, found a lone surrogate');

/** Drops members given as null, which `optional` turns into undefined. */
const config = runConfig.transform(
  (given) =>
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as JsonObject,
);

/** Content of an assistant's version, as clients send it. */
const content = {
  config: optional(config),
  context: optional(jsonObject),
  metadata: optional(ownMetadata),
  name: optional(name),
  description: optional(description),
};

export const assistantCreate = z.object(
  {
    ...content,
    graph_id: name,
    assistant_id: optional(uuid),
    if_exists: optional(oneOf(['raise', 'do_nothing'])),
  },
  'expected an object',
);

/** Absent and null members are not changed. */
export const assistantPatch = z.object({ ...content, graph_id: optional(name) }, 'expected an object');

const filters = { metadata: optional(jsonObject), graph_id: optional(name), name: optional(name) };

export const assistantSearch = z.object(
  {
    ...filters,
    sort_by: oneOf(ASSISTANT_SORTS)
      .nullish()
      .transform((value) => value ?? 'created_at'),
    sort_order: sortOrder,
    limit: limit(10),
    offset,
    select: optional(
      selectOf([
        'assistant_id',
        'graph_id',
        'name',
        'description',
        'config',
        'context',
        'metadata',
        'version',
        'created_at',
        'updated_at',
      ]),
    ),
  },
  'expected an object',
);

/** Search conditions that an auth handler sees and may change. */
export const assistantConditions = assistantSearch.pick({ metadata: true, graph_id: true });

export const assistantCount = z.object(filters, 'expected an object');

export const versionSearch = z.object(
  { metadata: optional(jsonObject), limit: limit(10), offset },
  'expected an object',
);

export const versionChoice = z.object(
  { version: z.int('expected a version number') },
  'expected an object with version',
);

export const assistantDeletion = z.object({ delete_threads: z.boolean().optional() });
