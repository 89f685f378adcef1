import { z } from 'zod';
import { THREAD_STREAM_MODES } from '../../streams/thread-stream.ts';
import { supersteps } from './state-schemas.ts';
import type { Ttl } from '../../thread/events.ts';
import { parsePath } from './extract.ts';
import {
  filter,
  limit,
  list,
  offset,
  oneOf,
  optional,
  ownMetadata,
  selectOf,
  sortOrder,
  uuid,
  withDefault,
} from '../fields.ts';
import { THREAD_SORTS } from '../../store/port/views/threads.ts';

/** Maximum time to live, about 190 years. */
const MAX_TTL_MINUTES = 100_000_000;
const MINUTES = `expected a number of minutes above 0 and at most ${MAX_TTL_MINUTES}`;
const minutes = z.number(MINUTES).positive(MINUTES).max(MAX_TTL_MINUTES, MINUTES);
const pruning = withDefault(oneOf(['delete', 'keep_latest']), 'delete').transform((value): Ttl['strategy'] =>
  value === 'keep_latest' ? 'keep-latest' : 'delete',
);

/** Time to live: minutes, or an object with minutes and the strategy at expiry. */
const ttl = z.union(
  [
    minutes.transform((given): Ttl => ({ strategy: 'delete', minutes: given })),
    z
      .object({ strategy: pruning, ttl: minutes })
      .transform((given): Ttl => ({ strategy: given.strategy, minutes: given.ttl })),
  ],
  'expected a number of minutes, or an object with ttl and strategy ("delete" or "keep_latest")',
);

export const threadCreate = z.object({
  thread_id: optional(uuid),
  metadata: optional(ownMetadata),
  if_exists: withDefault(oneOf(['raise', 'do_nothing']), 'raise'),
  supersteps: optional(supersteps),
  ttl: optional(ttl),
});

export const threadPatch = z.object({ metadata: optional(ownMetadata), ttl: optional(ttl) });

export const threadGet = z.object({
  include: optional(list(oneOf(['ttl']), 10, 'expected a list of "ttl"')),
});

export const threadPrune = z.object({
  thread_ids: list(uuid, 1000, 'expected a list of UUIDs'),
  strategy: pruning,
});

const status = optional(oneOf(['idle', 'busy', 'interrupted', 'error']));

export const threadCount = z.object({
  metadata: optional(filter('part')),
  values: optional(filter('part')),
  status,
});

const MAX_EXTRACTS = 10;
const ALIAS = 'expected a name of letters, digits and underscores';
const PATH =
  'expected a path such as values.messages[-1].content that begins with values, metadata, config or interrupts';

const extract = z
  .record(
    z.string().regex(/^[A-Za-z_]\w*$/, ALIAS),
    z.string(PATH).transform((text, context) => {
      const path = parsePath(text);
      if (path === undefined) context.addIssue({ code: 'custom', message: PATH });
      return path ?? [];
    }),
    'expected an object of names and paths',
  )
  .refine(
    (paths) => Object.keys(paths).length <= MAX_EXTRACTS,
    `expected at most ${MAX_EXTRACTS} names and paths`,
  );

export const threadSearch = z.object({
  ids: optional(list(uuid, 1000, 'expected a list of UUIDs')),
  metadata: optional(filter('part')),
  values: optional(filter('part')),
  status,
  sort_by: withDefault(oneOf(THREAD_SORTS), 'updated_at'),
  sort_order: sortOrder,
  limit: limit(10),
  offset,
  select: optional(
    selectOf([
      'thread_id',
      'created_at',
      'updated_at',
      'state_updated_at',
      'metadata',
      'title',
      'config',
      'context',
      'status',
      'values',
      'interrupts',
      'error',
    ]),
  ),
  extract: optional(extract),
});

/** Search conditions that an auth handler sees and may change. */
export const threadConditions = threadSearch.pick({ ids: true, metadata: true, values: true, status: true });

export type ThreadSearchBody = z.output<typeof threadSearch>;

const threadStreamModes = optional(list(oneOf(THREAD_STREAM_MODES), 100, 'expected a list of stream modes'));

/** Clients send either name; `stream_modes` has priority. */
export const threadStreamQuery = z.object({
  stream_modes: threadStreamModes,
  stream_mode: threadStreamModes,
});
