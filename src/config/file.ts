/**
 * The schema of the configuration file. scripts/config-reference.ts generates the reference in README.md from its
 * descriptions and defaults. `form` is the text for a type that JSON Schema cannot express.
 */
import { z } from 'zod';
import { exportSpec } from './export-spec.ts';
import { embeddingSpec } from './embedding-spec.ts';
import { httpBlock } from './http.ts';
import { webhooksBlock } from './webhooks.ts';

const OBJECT = 'expected an object';
const members = (description: string) =>
  z.record(z.string(), z.json(), OBJECT).optional().describe(description);

const graph = z
  .union(
    [
      exportSpec,
      z.looseObject({
        path: exportSpec,
        /** Description of the graph's system assistant. */
        description: z.string().optional(),
      }),
    ],
    'expected "<file>:<variable>", or an object with that as "path" and a text as "description"',
  )
  .meta({ form: '`"file:export"` or `{path, description}`' });

/** Positive, up to about 190 years. */
const minutes = z
  .number('expected a number of minutes')
  .positive('expected a number of minutes above 0')
  .max(100_000_000, 'expected at most 100000000 minutes');

const authBlock = z.looseObject(
  {
    path: exportSpec.describe('The `Auth` that decides who may call, and what.'),
    disable_studio_auth: z
      .boolean('expected true or false')
      .default(false)
      .describe('Studio requests need credentials like all others, whatever PLATFORM_STUDIO_KEY says.'),
    cache: z
      .looseObject(
        {
          cache_keys: z
            .array(
              z
                .string()
                .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of a header')
                .meta({ form: 'header names' }),
              'expected a list of header names',
            )
            .min(1, 'expected at least one header name')
            .describe('Headers that say who calls: name every one that the handler looks at.'),
          ttl_seconds: z
            .number('expected seconds')
            .positive('expected seconds above 0')
            .max(86_400, 'expected at most 86400 seconds')
            .default(60)
            .describe('Seconds that an answer holds.'),
          max_size: z
            .int('expected a whole number')
            .min(1, 'expected 1 or more')
            .max(1_000_000, 'expected at most 1000000')
            .default(1_000)
            .describe('Callers that are remembered at once.'),
        },
        'expected an object with "cache_keys"',
      )
      .optional()
      .describe('Keeps answers of `authenticate` for requests with the same headers.'),
    openapi: z
      .looseObject(
        {
          securitySchemes: members('How callers prove who they are, by name.'),
          security: z
            .array(z.record(z.string(), z.json()).meta({ form: 'objects' }), 'expected a list of objects')
            .optional()
            .describe('Which of them a request needs.'),
          paths: members('Routes, merged with those of the server.'),
        },
        OBJECT,
      )
      .optional()
      .describe('Merged into `/openapi.json`.'),
  },
  'expected an object with "path"',
);

const checkpointerBlock = z.looseObject(
  {
    ttl: z
      .looseObject(
        {
          strategy: z
            .enum(['delete', 'keep_latest'], 'expected "delete" or "keep_latest"')
            .default('delete')
            .describe('The thread goes, or all but its latest state goes.'),
          default_ttl: minutes
            .optional()
            .describe(
              'Minutes that threads live after their last change when their maker says nothing; for ever without.',
            ),
          sweep_interval_minutes: minutes
            .default(5)
            .describe('Minutes between two looks for threads whose time is over.'),
          sweep_limit: z
            .int('expected a whole number')
            .min(1, 'expected 1 or more')
            .default(1_000)
            .describe('Threads that one look deals with.'),
        },
        OBJECT,
      )
      .prefault({})
      .describe("What happens to threads that are left alone; a thread's own `ttl` wins."),
  },
  OBJECT,
);

const storeBlock = z.looseObject(
  {
    index: z
      .looseObject(
        {
          dims: z.int('expected a number of dimensions').min(1).max(65_536).describe('Numbers in a vector.'),
          embed: embeddingSpec.describe('Texts to vectors.'),
          fields: z
            .array(z.string('expected a path').meta({ form: 'paths' }), 'expected a list of paths')
            .min(1)
            .default(['$'])
            .describe('Parts of a value that are embedded; `$` is the whole.'),
        },
        'expected an object with "dims" and "embed"',
      )
      .optional()
      .describe('Search by meaning.'),
    ttl: z
      .looseObject(
        {
          refresh_on_read: z
            .boolean('expected true or false')
            .default(true)
            .describe('Reading an item lets it live on.'),
          default_ttl: z
            .number('expected minutes')
            .positive('expected minutes')
            .nullish()
            .describe('Minutes that items live when their writer says nothing; for ever without.'),
          sweep_interval_minutes: z
            .number('expected minutes')
            .positive('expected minutes')
            .nullish()
            .describe('Minutes between two deletions of expired items; without, they are only out of sight.'),
        },
        OBJECT,
      )
      .prefault({})
      .describe('How long items live.'),
  },
  OBJECT,
);

const cronsBlock = z.looseObject(
  {
    catch_up: z
      .enum(['one', 'none', 'all'], 'expected "one", "none" or "all"')
      .default('one')
      .describe(
        'Slots that were missed while the server was down: one run for all of them, none, or one for each.',
      ),
    catch_up_limit: z
      .int('expected a whole number')
      .min(1, 'expected 1 or more')
      .max(10_000, 'expected at most 10000')
      .default(100)
      .describe('With `"all"`: how many at most, the newest ones.'),
  },
  OBJECT,
);

export const recordingBlock = z.looseObject(
  {
    enabled: z.boolean('expected true or false').default(true),
    max_bytes: z
      .int('expected a whole number')
      .min(1_024, 'expected at least 1024 bytes')
      .max(1_073_741_824, 'expected at most 1073741824 bytes')
      .default(8_388_608),
    env: z.array(z.string('expected a name').meta({ form: 'names' }), 'expected a list of names').default([]),
  },
  'expected true, false or an object',
);

export const configFile = z.looseObject(
  {
    graphs: z
      .record(
        z.string().regex(/^[\w.-]{1,128}$/, 'a graph name has 1 to 128 letters, digits, "_", "-" or "."'),
        graph,
        'expected an object of graph names and "<file>:<variable>"',
      )
      .meta({ form: 'object of names → `"file:export"` or `{path, description}`' })
      .describe('The graphs to serve.'),
    dependencies: z
      .array(z.string('expected a path').meta({ form: 'paths' }), 'expected a list of paths')
      .default([])
      .describe('Packages that the graphs need. Node.js finds them itself, so they are only checked.'),
    env: z
      .union(
        [z.string(), z.array(z.string()), z.record(z.string(), z.coerce.string())],
        'expected a file path, an object or a list of names',
      )
      .optional()
      .meta({ form: 'path, object of texts, or list of names' })
      .describe(
        'A file of `NAME=value` lines, the variables themselves, or names that the process environment has to have. The process environment wins.',
      ),
    auth: authBlock.optional().describe('Who may call.'),
    http: httpBlock.prefault({}).describe('The interface.'),
    webhooks: webhooksBlock.prefault({}).describe('What is sent at the end of runs.'),
    crons: cronsBlock.prefault({}).describe('Schedules.'),
    store: storeBlock.prefault({}).describe('Items that graphs keep beyond threads.'),
    recording: z
      .union([z.boolean(), recordingBlock], 'expected true, false or an object')
      .default(false)
      .meta({ form: '`true`, `false` or `{enabled, max_bytes, env}`' })
      .describe(
        'Keeps what models and tools answered, so that runs can be executed again offline. `max_bytes`: compressed bytes of one run. `env`: environment variables whose values are kept; of others only names are, except `TZ`, `LANG` and plain URLs. `recording` in the `config` of an assistant or run wins.',
      ),
    checkpointer: checkpointerBlock.prefault({}).describe('Saved states of threads.'),
  },
  OBJECT,
);

export type ConfigFile = z.output<typeof configFile>;
