/** The configuration file's shape. */
import { z } from 'zod';
import { exportSpec } from './export-spec.ts';
import { embeddingSpec } from './embedding-spec.ts';
import { httpBlock } from './http.ts';
import { webhooksBlock } from './webhooks.ts';

const members = z.record(z.string(), z.json(), 'expected an object').optional();

const graph = z.union(
  [
    exportSpec,
    /** `description` becomes that of the graph's own assistant. */
    z.looseObject({ path: exportSpec, description: z.string().optional() }),
  ],
  'expected "<file>:<variable>", or an object with that as "path" and a text as "description"',
);

/** Up to some 190 years. */
const minutes = z
  .number('expected a number of minutes')
  .positive('expected a number of minutes above 0')
  .max(100_000_000, 'expected at most 100000000 minutes');

export const configFile = z.looseObject(
  {
    /** Paths of packages that the graphs need; Node finds them itself, so they are only checked. */
    dependencies: z.array(z.string('expected a path'), 'expected a list of paths').optional(),
    /** Graph name to the export that holds the graph. */
    graphs: z.record(
      z.string().regex(/^[\w.-]{1,128}$/, 'a graph name has 1 to 128 letters, digits, "_", "-" or "."'),
      graph,
      'expected an object of graph names and "<file>:<variable>"',
    ),
    /**
     * A file of `NAME=value` lines, the variables themselves, or the names of variables that the process environment
     * has. The process environment wins.
     */
    env: z
      .union(
        [z.string(), z.array(z.string()), z.record(z.string(), z.coerce.string())],
        'expected a file path, an object or a list of names',
      )
      .optional(),
    auth: z
      .looseObject(
        {
          path: exportSpec,
          /** The studio is asked for credentials like everybody, whatever key is configured for it. */
          disable_studio_auth: z.boolean('expected true or false').optional(),
          /** For how long answers of `authenticate` hold for requests with the same headers. */
          cache: z
            .looseObject(
              {
                /** Headers that say who calls: all that the handler looks at. */
                cache_keys: z
                  .array(
                    z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of a header'),
                    'expected a list of header names',
                  )
                  .min(1, 'expected at least one header name'),
                ttl_seconds: z
                  .number('expected seconds')
                  .positive('expected seconds above 0')
                  .max(86_400, 'expected at most 86400 seconds')
                  .optional(),
                /** Callers that are remembered at once. */
                max_size: z
                  .int('expected a whole number')
                  .min(1, 'expected 1 or more')
                  .max(1_000_000, 'expected at most 1000000')
                  .optional(),
              },
              'expected an object with "cache_keys"',
            )
            .optional(),
          /** Merged into the description of the interface: how callers prove who they are. */
          openapi: z
            .looseObject(
              {
                securitySchemes: members,
                security: z.array(z.record(z.string(), z.json()), 'expected a list of objects').optional(),
                paths: members,
              },
              'expected an object',
            )
            .optional(),
        },
        'expected an object with "path"',
      )
      .optional(),
    checkpointer: z
      .looseObject(
        {
          /** What happens to threads that were left alone. */
          ttl: z
            .looseObject(
              {
                /** `delete`: the thread goes. `keep_latest`: all but its latest state goes. */
                strategy: z.enum(['delete', 'keep_latest'], 'expected "delete" or "keep_latest"').optional(),
                /** Minutes that new threads get when their maker says nothing. */
                default_ttl: minutes.optional(),
                /** Minutes between two looks for threads whose time is over. */
                sweep_interval_minutes: minutes.optional(),
                /** How many threads one look deals with. */
                sweep_limit: z.int('expected a whole number').min(1, 'expected 1 or more').optional(),
              },
              'expected an object',
            )
            .optional(),
        },
        'expected an object',
      )
      .optional(),
    store: z
      .looseObject(
        {
          /** Search by meaning: `embed` turns texts into vectors of `dims` numbers. */
          index: z
            .looseObject(
              {
                dims: z.int('expected a number of dimensions').min(1).max(65_536),
                embed: embeddingSpec,
                /** Parts of a value that are embedded; `$` is the whole. */
                fields: z.array(z.string('expected a path'), 'expected a list of paths').min(1).optional(),
              },
              'expected an object with "dims" and "embed"',
            )
            .optional(),
          ttl: z
            .looseObject(
              {
                refresh_on_read: z.boolean('expected true or false').optional(),
                /** Minutes. */
                default_ttl: z.number('expected minutes').positive('expected minutes').nullish(),
                /** Minutes; without it nothing is deleted, only out of sight. */
                sweep_interval_minutes: z.number('expected minutes').positive('expected minutes').nullish(),
              },
              'expected an object',
            )
            .optional(),
        },
        'expected an object',
      )
      .optional(),
    crons: z
      .looseObject(
        {
          /** Slots that were missed while the server was down: `one` run for all, `none`, or `all` of them. */
          catch_up: z.enum(['one', 'none', 'all'], 'expected "one", "none" or "all"').optional(),
          /** With `all`: how many at most, the newest ones. */
          catch_up_limit: z
            .int('expected a whole number')
            .min(1, 'expected 1 or more')
            .max(10_000, 'expected at most 10000')
            .optional(),
        },
        'expected an object',
      )
      .optional(),
    http: httpBlock.optional(),
    webhooks: webhooksBlock.optional(),
  },
  'expected an object',
);

export type ConfigFile = z.output<typeof configFile>;
