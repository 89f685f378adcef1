/**
 * All settings, each declared once with its sources, description, check and default. The type `Config`, the reference in
 * README.md, `platform.schema.json` and the warnings for unknown names come from here.
 */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { databaseUrlProblem } from '../kernel/database-address.ts';
import { defined, type JsonObject } from '../kernel/json.ts';
import {
  auth,
  budget,
  crons,
  envSource,
  graphs,
  paths,
  recording,
  resumeCalls,
  store,
  threadTtl,
} from './blocks.ts';
import { http } from './http.ts';
import { amount, choice, flag, list, off, split, text, toMs, whole } from './kinds.ts';
import { group, setting, withDetails, withForm } from './setting.ts';
import { webhooks } from './webhooks.ts';

/** 100 years, which keeps milliseconds in a safe range. */
const MAX_SECS = 3_155_760_000;
const ms = (min = 0, max?: number) => whole(min, max).transform(toMs);
/** At least 2, so that a graph that blocks one worker does not block all. */
const DEFAULT_WORKERS = Math.max(2, availableParallelism() - 1);

/** Rejects an empty key, which would disable the protection silently. */
const key = withForm(z.string().min(1, 'expected a key, or no variable at all'), 'keys');
const keys = () => withDetails(z.array(key).readonly(), { fromText: split, isSecret: true }).optional();

const ENCRYPTION_KEY = 'expected keys of 32 bytes in base64 or hexadecimal';
const toHexadecimal = (given: string): string =>
  given.length === 64 ? given.toLowerCase() : Buffer.from(given, 'base64').toString('hex');
const encryptionKey = withForm(
  z
    .string(ENCRYPTION_KEY)
    .regex(/^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/]{43}=?)$/, ENCRYPTION_KEY)
    .transform(toHexadecimal),
  'keys of 32 bytes in base64 or hexadecimal',
);
const encryptionKeys = withDetails(list(encryptionKey, 'keys'), { isSecret: true });

const DATABASE = 'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE';
const databaseUrl = withDetails(
  z.string(DATABASE).superRefine((given, context) => {
    const message = databaseUrlProblem(given);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  }),
  { form: 'address', isSecret: true },
);

/** Level names of other tools. */
const LEVEL_ALIASES: Readonly<Record<string, string>> = { critical: 'fatal', warning: 'warn' };
const level = withDetails(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
  fromText: (given) => LEVEL_ALIASES[given.toLowerCase()] ?? given.toLowerCase(),
});

const ASSISTANTS = 'expected {"<graph>": {"configurable": {}, "context": {}}}';
const members = () => z.record(z.string(), z.unknown(), ASSISTANTS).optional();
const assistant = z
  .object({ config: members(), configurable: members(), context: members() }, ASSISTANTS)
  .transform(({ config, configurable, context }): { config?: JsonObject; context?: JsonObject } =>
    defined({ config: configurable ? { ...config, configurable } : config, context }),
  );
const assistants = withDetails(z.record(z.string(), assistant, ASSISTANTS), {
  form: '`{"graph": {"configurable": …, "context": …}}`',
  fromText(given) {
    try {
      return JSON.parse(given) as unknown;
    } catch {
      return given;
    }
  },
});

/** Client time-outs: for request headers, for the whole request, and without reading any of a reply. */
// prettier-ignore
const patience = group({
  headersMs: setting('PLATFORM_HEADERS_TIMEOUT_SECS', ms(1).prefault(10), "Seconds that a client may take over a request's headers."),
  requestMs: setting('PLATFORM_REQUEST_TIMEOUT_SECS', ms(1).prefault(60), 'Seconds that a client may take over a whole request.'),
  stalledMs: setting('PLATFORM_STALLED_TIMEOUT_SECS', ms(1).prefault(300), 'Seconds after which a client that takes nothing of a reply is cut off.'),
});

// prettier-ignore
const workers = group({
  count: setting('PLATFORM_WORKERS', whole(0, 64).default(DEFAULT_WORKERS), "Graph workers at most, each a process; `0` runs graphs in the server's own, for debuggers.", 'max(2, cores − 1)'),
  memoryMb: setting('PLATFORM_WORKER_MEMORY_MB PLATFORM_WORKER_HEAP_MB', whole(128).default(1_024), 'Memory of one graph worker, in MiB; three quarters of it are V8 heap.'),
  loadLimitMs: setting('PLATFORM_GRAPH_LOAD_SECS', ms(1).prefault(30), 'Time for the file of one graph to load.'),
});

// prettier-ignore
const log = group({
  level: setting('LOG_LEVEL', level.default('info'), 'The least that is logged; `debug` has a line per request.'),
  json: setting('LOG_JSON', flag().optional(), 'Log lines are JSON.', '`false` on a terminal, else `true`'),
});

// prettier-ignore
export const settings = z.object({
  configFile: setting('--config PLATFORM_CONFIG', text('path').default('.'), 'The configuration file, or its folder.', '`platform.json`, else `langgraph.json`, of the current folder'),
  graphs: setting('graphs', graphs.prefault({}), 'The graphs to serve.'),
  dependencies: setting('dependencies', paths().default([]), 'Packages that the graphs need. Node.js finds them itself, so they are only checked.'),
  env: setting('env', envSource.optional(), 'A file of `NAME=value` lines, the variables themselves, or names that the process environment has to have. The process environment wins.'),
  auth: setting('auth', auth.optional(), 'Who may call.'),
  host: setting('--host PLATFORM_HOST LANGGRAPH_SERVER_HOST', text('address').default('127.0.0.1'), 'Address to listen on.'),
  port: setting('--port PLATFORM_PORT LANGGRAPH_SERVER_PORT PORT', whole(0, 65_535).default(2024), 'Port to listen on; `0` takes a free one.'),
  /** Empty: in the project. */
  dataDir: setting('--data PLATFORM_DATA', text('path').min(1, 'expected a path').default(''), 'Folder of the log.', '`.platform` beside the configuration file'),
  databaseUrl: setting('PLATFORM_DATABASE_URL', databaseUrl.optional(), 'PostgreSQL database of the log, which then has no file in the folder.', 'none: the log is a file in its folder'),
  databaseListenUrl: setting('PLATFORM_DATABASE_LISTEN_URL', databaseUrl.optional(), 'Address of the same database for notifications between servers, where a pooler of transactions is at the other one.', '`PLATFORM_DATABASE_URL`'),
  encryptionKeys: setting('PLATFORM_ENCRYPTION_KEY', encryptionKeys.default([]), 'Content of the log is encrypted under the first and read under all.', 'none: the log is plain'),
  apiKeys: setting('PLATFORM_API_KEY', keys(), 'Any of them is asked for in `x-api-key`. Has no effect with an auth handler.', 'none: open'),
  studioKeys: setting('PLATFORM_STUDIO_KEY', keys(), 'With any of them the studio passes the auth handler as a user of its own.', 'none: no studio user'),
  http,
  maxBodyBytes: setting('PLATFORM_MAX_BODY_BYTES HTTP_MAX_REQUEST_BODY_BYTES http.max_body_bytes', whole(1_024).default(16 * 2 ** 20), 'Largest body of a request.'),
  budget: setting('budget', budget, 'Limits of every run, which ends with the error `BudgetReached` after the step in which it reached one. `budget` of an assistant or run may be smaller.', 'none'),
  ...{ webhooks, crons, store, recording, resumeCalls, threadTtl, patience, workers },
  concurrency: setting('PLATFORM_CONCURRENCY N_JOBS_PER_WORKER', whole(1).default(64), 'Runs that execute at once.'),
  runTimeoutMs: setting('PLATFORM_RUN_TIMEOUT_SECS BG_JOB_TIMEOUT_SECS', ms(1, MAX_SECS).prefault(86_400), 'Seconds that a run may take.'),
  /** X6 */
  maxAttempts: setting('PLATFORM_MAX_ATTEMPTS BG_JOB_MAX_RETRIES', whole(1).default(5), 'Deaths of its process that a run is charged with before it ends with an error.'),
  frameRetentionMs: setting('PLATFORM_FRAME_RETENTION_SECS RESUMABLE_STREAM_TTL_SECONDS', ms(1, MAX_SECS).prefault(3_600), 'Seconds that the stream of an ended run can be read again.'),
  drainMs: setting('PLATFORM_DRAIN_SECS BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS', ms(0, 3_600).prefault(0), 'Seconds that a stop lets running graphs finish before they are told.'),
  shutdownGraceMs: setting('PLATFORM_SHUTDOWN_GRACE_SECS', ms(0, MAX_SECS).prefault(5), 'Seconds that a stop waits for running graphs and open replies.'),
  stopGraceMs: setting('PLATFORM_STOP_GRACE_SECS', amount(0, MAX_SECS).transform(toMs).prefault(1.5), 'Seconds after which a graph that ignores its signal is abandoned.'),
  allowTruncate: setting('PLATFORM_ALLOW_TRUNCATE', off(), 'Serves `POST /internal/truncate` to loopback, for tests.'),
  assistantDefaults: setting('LANGGRAPH_CONFIG', assistants.prefault({}), "Defaults of the graphs' own assistants.", 'none'),
  schemaTimeoutMs: setting('LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS', whole(1).default(30_000), "Milliseconds of processor time for reading the types of a graph's source."),
  log,
});
