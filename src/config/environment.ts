/**
 * Schemas of the environment variables: description, default, and names that other servers use.
 * scripts/config-reference.ts generates the reference in README.md from them.
 */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import { isSecret, origin, PREFIX, SECRET } from './texts.ts';

/** Members of `meta` that the generated reference reads. */
export interface VariableMeta {
  readonly description?: string;
  /** Fallback variables, in order. */
  readonly others?: readonly string[];
  /** Command-line option, which wins. */
  readonly option?: string;
  readonly form?: string;
  /** Text of the default where it is not a constant. */
  readonly byDefault?: string;
}

/** 100 years, which keeps milliseconds in a safe range. */
const MAX_SECS = 3_155_760_000;

/** Builds a schema from `read`. `text` is the value of the variable or option, and messages quote it. */
const parsed = <T>(read: (text: string) => T | undefined, expected: string, form: string) =>
  z
    .string()
    .transform((text, context): T => {
      const value = read(text);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message: `expected ${expected}, found "${text}"` });
      return z.NEVER;
    })
    .meta({ form });

interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly decimals?: boolean;
}

const number = ({ min = 0, max = Number.MAX_SAFE_INTEGER, decimals = false }: Limits = {}) => {
  const isBounded = max !== Number.MAX_SAFE_INTEGER;
  const kind = `${decimals ? '' : 'whole '}number`;
  return parsed(
    (text) => {
      const value = Number(text);
      return (decimals ? /^\d+(\.\d+)?$/ : /^\d+$/).test(text) && value >= min && value <= max
        ? value
        : undefined;
    },
    `a ${kind} of at least ${min}${isBounded ? ` and at most ${max}` : ''}`,
    isBounded ? `${kind}, ${min} to ${max}` : `${kind}, at least ${min}`,
  );
};

const flag = () =>
  parsed(
    (text) => {
      if (['1', 'true', 'yes'].includes(text.toLowerCase())) return true;
      return ['', '0', 'false', 'no'].includes(text.toLowerCase()) ? false : undefined;
    },
    'true or false',
    '`true` or `false`',
  );

/** An empty variable counts as not set. */
const list = <T>(each: (part: string) => T | undefined, form: string, problem: (part: string) => string) =>
  z
    .string()
    .transform((text, context): readonly T[] | undefined => {
      const parts = text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
      const values = parts.map(each);
      const wrong = parts[values.indexOf(undefined)];
      if (wrong !== undefined) context.addIssue({ code: 'custom', message: problem(wrong) });
      return parts.length === 0 || wrong !== undefined ? undefined : (values as T[]);
    })
    .meta({ form: `${form}, separated by commas` });

/** Rejects an empty list, which would disable the protection silently. */
const keys = () =>
  z
    .string()
    .transform((text) => text.split(',').map((key) => key.trim()))
    .refine((all) => !all.includes(''), 'expected a key, or no variable at all')
    .meta({ form: 'keys, separated by commas' });

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];
/** Level names of other tools. */
const ALIASES: Readonly<Record<string, string>> = { critical: 'fatal', warning: 'warn' };
const level = () =>
  parsed(
    (text) => LEVELS.find((each) => each === (ALIASES[text.toLowerCase()] ?? text.toLowerCase())),
    `one of ${LEVELS.join(', ')}`,
    LEVELS.map((each) => `\`${each}\``).join(', '),
  );

/** Config and context of each graph's system assistant, by graph id. */
export type AssistantDefaults = Readonly<Record<string, { config?: JsonObject; context?: JsonObject }>>;

const assistantDefaults = z.record(
  z.string(),
  z.looseObject({
    config: z.record(z.string(), z.json()).optional(),
    configurable: z.record(z.string(), z.json()).optional(),
    context: z.record(z.string(), z.json()).optional(),
  }),
);

const graphDefaults = () =>
  z
    .string()
    .transform((text, context): AssistantDefaults => {
      try {
        return Object.fromEntries(
          Object.entries(assistantDefaults.parse(JSON.parse(text))).map(
            ([graphId, { config, configurable, context: value }]) => [
              graphId,
              {
                ...((config ?? configurable) && {
                  config: { ...config, ...(configurable && { configurable }) },
                }),
                ...(value && { context: value }),
              },
            ],
          ),
        );
      } catch (error) {
        const message = `expected {"<graph>": {"configurable": {}, "context": {}}} (${String(error)})`;
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    })
    .meta({ form: '`{"graph": {"configurable": …, "context": …}}`' });

export const environment = z.object({
  PLATFORM_CONFIG: z
    .string()
    .default('.')
    .meta({
      option: '--config',
      form: 'path',
      byDefault: '`platform.json`, else `langgraph.json`, of the current folder',
    })
    .describe('The configuration file, or its folder.'),
  PLATFORM_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ option: '--host', others: ['LANGGRAPH_SERVER_HOST'], form: 'address' })
    .describe('Address to listen on.'),
  PLATFORM_PORT: number({ max: 65_535 })
    .default(2024)
    .meta({ option: '--port', others: ['LANGGRAPH_SERVER_PORT', 'PORT'] })
    .describe('Port to listen on; `0` takes a free one.'),
  PLATFORM_DATA: z
    .string()
    .min(1, 'expected a path, found ""')
    .optional()
    .meta({ option: '--data', form: 'path', byDefault: '`.platform` beside the configuration file' })
    .describe('Folder of the log.'),
  PLATFORM_API_KEY: keys()
    .optional()
    .meta({ byDefault: 'none: open' })
    .describe('Any of them is asked for in `x-api-key`. Has no effect with an auth handler.'),
  PLATFORM_STUDIO_KEY: keys()
    .optional()
    .meta({ byDefault: 'none: no studio user' })
    .describe('With any of them the studio passes the auth handler as a user of its own.'),
  PLATFORM_ALLOW_PRIVATE_WEBHOOKS: flag()
    .optional()
    .meta({ byDefault: '`webhooks.url.disable_loopback`' })
    .describe('Allows loopback and private receivers of webhooks.'),
  PLATFORM_WEBHOOK_SECRET: list(
    (part) => (isSecret(part) ? part : undefined),
    '`whsec_…` keys',
    () => `${SECRET}, separated by commas`,
  )
    .optional()
    .meta({ byDefault: '`webhooks.secrets`' })
    .describe('All of them sign webhooks.'),
  PLATFORM_WEBHOOK_TIMEOUT_SECS: number({ min: 1 })
    .optional()
    .meta({ byDefault: '`webhooks.timeout_secs`' })
    .describe('Seconds that an attempt at a webhook may take.'),
  PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: list(
    (part) => (Number(part) > 0 && Number(part) <= 31_536_000 ? Number(part) : undefined),
    'seconds',
    () => 'expected seconds above 0, separated by commas',
  )
    .optional()
    .meta({ byDefault: '`webhooks.retry_pauses_secs`' })
    .describe('Pauses between the attempts at a webhook.'),
  PLATFORM_HEADERS_TIMEOUT_SECS: number({ min: 1 })
    .default(10)
    .describe("Seconds that a client may take over a request's headers."),
  PLATFORM_REQUEST_TIMEOUT_SECS: number({ min: 1 })
    .default(60)
    .describe('Seconds that a client may take over a whole request.'),
  PLATFORM_STALLED_TIMEOUT_SECS: number({ min: 1 })
    .default(300)
    .describe('Seconds after which a client that takes nothing of a reply is cut off.'),
  PLATFORM_MAX_BODY_BYTES: number({ min: 1024 })
    .optional()
    .meta({ others: ['HTTP_MAX_REQUEST_BODY_BYTES'], byDefault: '`http.max_body_bytes`' })
    .describe('Largest body of a request.'),
  PLATFORM_WORKERS: number({ max: 64 })
    // At least 2, so that a graph that blocks one worker does not block all.
    .default(Math.max(2, availableParallelism() - 1))
    .meta({ byDefault: 'max(2, cores − 1)' })
    .describe("Graph workers at most, each a process; `0` runs graphs in the server's own, for debuggers."),
  PLATFORM_WORKER_MEMORY_MB: number({ min: 128 })
    .default(1_024)
    .meta({ others: ['PLATFORM_WORKER_HEAP_MB'] })
    .describe('Memory of one graph worker, in MiB; three quarters of it are V8 heap.'),
  PLATFORM_GRAPH_LOAD_SECS: number({ min: 1 })
    .default(30)
    .describe('Time for the file of one graph to load.'),
  PLATFORM_CONCURRENCY: number({ min: 1 })
    .default(64)
    .meta({ others: ['N_JOBS_PER_WORKER'] })
    .describe('Runs that execute at once.'),
  PLATFORM_RUN_TIMEOUT_SECS: number({ min: 1, max: MAX_SECS })
    .default(86_400)
    .meta({ others: ['BG_JOB_TIMEOUT_SECS'] })
    .describe('Seconds that a run may take.'),
  PLATFORM_MAX_ATTEMPTS: number({ min: 1 })
    .default(5)
    .meta({ others: ['BG_JOB_MAX_RETRIES'] })
    .describe('Deaths of its process that a run is charged with before it ends with an error.'),
  PLATFORM_FRAME_RETENTION_SECS: number({ min: 1, max: MAX_SECS })
    .default(3_600)
    .meta({ others: ['RESUMABLE_STREAM_TTL_SECONDS'] })
    .describe('Seconds that the stream of an ended run can be read again.'),
  PLATFORM_DRAIN_SECS: number({ max: 3_600 })
    .default(0)
    .meta({ others: ['BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS'] })
    .describe('Seconds that a stop lets running graphs finish before they are told.'),
  PLATFORM_SHUTDOWN_GRACE_SECS: number({ max: MAX_SECS })
    .default(5)
    .describe('Seconds that a stop waits for running graphs and open replies.'),
  PLATFORM_STOP_GRACE_SECS: number({ max: MAX_SECS, decimals: true })
    .default(1.5)
    .describe('Seconds after which a graph that ignores its signal is abandoned.'),
  PLATFORM_RECORDING: flag()
    .optional()
    .meta({ byDefault: '`recording`' })
    .describe('Records all runs, or none, whatever the file says.'),
  PLATFORM_ALLOW_TRUNCATE: flag()
    .default(false)
    .describe('Serves `POST /internal/truncate` to loopback, for tests.'),
  LANGGRAPH_CONFIG: graphDefaults()
    .default({})
    .meta({ byDefault: 'none' })
    .describe("Defaults of the graphs' own assistants."),
  LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: number({ min: 1 })
    .default(30_000)
    .describe("Milliseconds of processor time for reading the types of a graph's source."),
  MOUNT_PREFIX: parsed((text) => (PREFIX.test(text) ? text : undefined), 'a path such as "/agents"', 'path')
    .optional()
    .meta({ byDefault: '`http.mount_prefix`' })
    .describe('Everything lies below it.'),
  CORS_ALLOW_ORIGINS: list(
    (part) => (origin.safeParse(part).success ? part : undefined),
    'origins',
    (part) => `expected origins or "*", separated by commas, found "${part}"`,
  )
    .optional()
    .meta({ byDefault: '`http.cors.allow_origins`' })
    .describe('Origins of pages that may call.'),
  LOG_LEVEL: level().default('info').describe('The least that is logged; `debug` has a line per request.'),
  LOG_JSON: flag()
    .optional()
    .meta({ byDefault: '`false` on a terminal, else `true`' })
    .describe('Log lines are JSON.'),
});

export type Values = z.output<typeof environment>;
export type VariableName = keyof Values;
