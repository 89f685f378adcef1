import { z } from 'zod';
import { parseFlag } from '../query.ts';
import { defined } from '../../kernel/json.ts';
import {
  filter,
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
  withDefault,
} from '../fields.ts';
import { runConfig } from '../runs/schemas.ts';
import { ASSISTANT_SORTS } from '../../store/port/views/assistants.ts';

const description = z
  .string('expected a string')
  .max(10_000, 'expected at most 10000 characters')
  .refine((text) => text.isWellFormed(), 'expected plain text, found a lone surrogate');

/** Drops members given as null, which `optional` turns into undefined. */
const config = runConfig.transform(defined);

/** Name of an assistant that is created without one. */
export const UNTITLED = 'Untitled';

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
    name: withDefault(name, UNTITLED),
    graph_id: name,
    assistant_id: optional(uuid),
    if_exists: withDefault(oneOf(['raise', 'do_nothing']), 'raise'),
  },
  'expected an object',
);

/** Absent and null members are not changed. */
export const assistantPatch = z.object({ ...content, graph_id: optional(name) }, 'expected an object');

const filters = { metadata: optional(filter('part')), graph_id: optional(name), name: optional(name) };

export const assistantSearch = z.object(
  {
    ...filters,
    sort_by: withDefault(oneOf(ASSISTANT_SORTS), 'created_at'),
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
  { metadata: optional(filter('part')), limit: limit(10), offset },
  'expected an object',
);

/** Levels of subgraphs to draw: `xray=true` means all levels, `xray=2` two. */
const xray = z
  .string()
  .optional()
  .transform((text = 'false', context): boolean | number => {
    if (/^\d{1,6}$/.test(text) && Number(text) > 0) return Number(text);
    const isNumber = /^-?\d{1,6}$/.test(text);
    const flag = isNumber ? undefined : parseFlag(text);
    if (flag !== undefined) return flag;
    const message = isNumber ? 'expected true, false, or 1 or more levels' : 'expected true or false';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    type: ['boolean', 'integer'],
    minimum: 1,
    default: false,
    description: 'True draws all subgraphs; a number draws that many levels.',
  });
export const drawingQuery = z.object({ xray });
export const subgraphQuery = z.object({ recurse: withDefault(z.boolean(), false) });

/** The version in a query, which a body precedes. */
export const versionQuery = z.object({ version: optional(z.number()) });

export const versionChoice = z.object(
  { version: z.int('expected a version number') },
  'expected an object with version',
);

export const assistantDeletion = z.object({ delete_threads: withDefault(z.boolean(), false) });
