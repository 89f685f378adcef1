/** Settings of the project and its data: graphs, auth, store, threads, crons, recordings. */
import { z } from 'zod';
import { defined } from '../kernel/json.ts';
import { embeddingSpec } from './embedding-spec.ts';
import { exportSpec } from './export-spec.ts';
import { choice, flag, headerName, list, OBJECT, off, positive, text, toMs, whole } from './kinds.ts';
import { group, setting, withDetails, withForm } from './setting.ts';

const graph = z.union(
  [
    exportSpec,
    z
      .object({ path: exportSpec, description: z.string().exactOptional().describe('Of its assistant.') })
      .transform(({ path, ...others }) => ({ ...path, ...others })),
  ],
  'expected "<file>:<variable>", or an object with that as "path" and a text as "description"',
);

export const graphs = withForm(
  z.record(
    z.string().regex(/^[\w.-]{1,128}$/, 'a graph name has 1 to 128 letters, digits, "_", "-" or "."'),
    graph,
    'expected an object of graph names and "<file>:<variable>"',
  ),
  'object of names → `"file:export"` or `{path, description}`',
).transform((all) => Object.entries(all).map(([id, each]) => ({ id, ...each })));

/** `env` of the file, which is read before all variables. */
export const envSource = withDetails(
  z.union(
    [z.string(), z.array(z.string()), z.record(z.string(), z.coerce.string())],
    'expected a file path, an object or a list of names',
  ),
  { form: 'path, object of texts, or list of names', isSecret: true },
);

export const paths = (min = 0) => list(withForm(z.string('expected a path'), 'paths'), 'paths', min);
const minutes = () => positive('minutes', 100_000_000);
const members = () => z.record(z.string(), z.unknown(), OBJECT);

// prettier-ignore
const cache = z.object({
  cache_keys: list(headerName(), 'header names', 1).describe('Headers that say who calls: name every one that the handler looks at.'),
  ttl_seconds: positive('seconds', 86_400).default(60).describe('Seconds that an answer holds.'),
  max_size: whole(1, 1_000_000).default(1_000).describe('Callers that are remembered at once.'),
}, 'expected an object with "cache_keys"').transform(({ cache_keys, ttl_seconds, max_size: maxEntries }) =>
  ({ keys: cache_keys.map((name) => name.toLowerCase()), ttlMs: toMs(ttl_seconds), maxEntries }));

const objects = z.array(withForm(members(), 'objects'), 'expected a list of objects');
// prettier-ignore
const openapi = z.looseObject({
  securitySchemes: members().optional().describe('How callers prove who they are, by name.'),
  security: objects.optional().describe('Which of them a request needs.'),
  paths: members().optional().describe('Routes, merged with those of the server.'),
}, OBJECT).transform(({ securitySchemes, security, paths }) =>
  // OpenAPI documents keep security schemes under `components`.
  defined({ components: securitySchemes && { securitySchemes }, security, paths }));

// prettier-ignore
export const auth = z.object({
  path: exportSpec.describe('The `Auth` that decides who may call, and what.'),
  disable_studio_auth: off().describe('Studio requests need credentials like all others, whatever PLATFORM_STUDIO_KEY says.'),
  cache: cache.optional().describe('Keeps answers of `authenticate` for requests with the same headers.'),
  openapi: openapi.optional().describe('Merged into `/openapi.json`.'),
}, 'expected an object with "path"');

// prettier-ignore
const index = z.object({
  dims: whole(1, 65_536).describe('Numbers in a vector.'),
  embed: embeddingSpec.describe('Texts to vectors.'),
  fields: paths(1).default(['$']).describe('Parts of a value that are embedded; `$` is the whole.'),
}, 'expected an object with "dims" and "embed"').exactOptional();

// prettier-ignore
export const store = group({
  index: setting('store.index', index, 'Search by meaning.'),
  refreshOnRead: setting('store.ttl.refresh_on_read', flag().default(true), 'Reading an item lets it live on.'),
  defaultTtl: setting('store.ttl.default_ttl', minutes().nullable().default(null), 'Minutes that items live when their writer says nothing; for ever without.'),
  sweepIntervalMinutes: setting('store.ttl.sweep_interval_minutes', minutes().nullable().default(null), 'Minutes between two deletions of expired items; without, they are only out of sight.'),
});

// prettier-ignore
export const crons = group({
  catchUp: setting('crons.catch_up', choice('one', 'none', 'all').default('one'), 'Slots that were missed while the server was down: one run for all of them, none, or one for each.'),
  catchUpLimit: setting('crons.catch_up_limit', whole(1, 10_000).default(100), 'With `"all"`: how many at most, the newest ones.'),
});

const RECORDING = 'expected true, false or an object';
// prettier-ignore
const recordingBlock = z.object({
  enabled: flag().default(true),
  max_bytes: whole(1_024, 1_073_741_824).default(8_388_608),
  env: list(text('name'), 'names').default([]),
}, RECORDING);
const recordingOrFlag = withForm(
  z.union([z.boolean(), recordingBlock], RECORDING).optional(),
  '`true`, `false` or `{enabled, max_bytes, env}`',
);

// prettier-ignore
export const recording = group({
  given: setting(
    'recording', recordingOrFlag,
    'Keeps what models and tools answered, so that runs can be executed again offline. `max_bytes`: compressed bytes of one run. `env`: environment variables whose values are kept; of others only names are, except `TZ`, `LANG` and plain URLs. `recording` in the `config` of an assistant or run wins.',
    '`false`; `true` in `dev`',
  ),
  isOn: setting('PLATFORM_RECORDING', flag().optional(), 'Records all runs, or none, whatever the file says.', '`recording`'),
}).transform(({ given, isOn }) => {
  const block = typeof given === 'object' ? given : recordingBlock.parse({ enabled: given ?? false });
  const byDefault = isOn ?? (given === undefined ? undefined : block.enabled);
  return { byDefault, maxBytes: block.max_bytes, env: block.env };
});

// prettier-ignore
export const resumeCalls = setting(
  'resume_calls',
  withForm(z.union([z.boolean(), z.literal('keys')], 'expected true, false or "keys"').default(true), '`true`, `false` or `"keys"`'),
  'After a crash a run asks nothing again that it was answered. `"keys"`: requests that have no `Idempotency-Key` get one, equal in every attempt. `resume_calls` in the `config` of an assistant or run wins.',
);

const STRATEGIES = { delete: 'delete', keep_latest: 'keep-latest' } as const;
const strategy = choice('delete', 'keep_latest').transform((given) => STRATEGIES[given]);

const MAX_BUDGET = 1_000_000_000_000;
// prettier-ignore
export const budget = z.strictObject({
  tokens: positive('tokens', MAX_BUDGET).exactOptional().describe('Input and output tokens together, as the models report them.'),
  calls: positive('calls', MAX_BUDGET).exactOptional().describe('Calls of models.'),
  seconds: positive('seconds', MAX_BUDGET).exactOptional().describe('Seconds of execution.'),
}, 'expected an object with "tokens", "calls" or "seconds"').optional();

export const threadTtl = group({
  strategy: setting(
    'checkpointer.ttl.strategy',
    strategy.prefault('delete'),
    'The thread goes, or all but its latest state goes.',
  ),
  minutes: setting(
    'checkpointer.ttl.default_ttl',
    minutes().optional(),
    'Minutes that threads live after their last change when their maker says nothing; for ever without.',
  ),
  sweepIntervalMinutes: setting(
    'checkpointer.ttl.sweep_interval_minutes',
    minutes().default(5),
    'Minutes between two looks for threads whose time is over.',
  ),
  sweepLimit: setting(
    'checkpointer.ttl.sweep_limit',
    whole(1).default(1_000),
    'Threads that one look deals with.',
  ),
}).transform(({ strategy, minutes, ...sweep }) => ({
  byDefault: minutes === undefined ? null : { strategy, minutes },
  ...sweep,
}));
