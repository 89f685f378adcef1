/** The validated, frozen configuration of the server. */
import type { JsonObject } from '../kernel/json.ts';
import type { EmbeddingSpec } from './embedding-spec.ts';
import type { ExportSpec } from './export-spec.ts';
import type { HttpConfig } from './http.ts';
import type { AssistantDefaults, LogLevel } from './environment.ts';
import type { WebhooksConfig } from './webhooks.ts';

export interface Config {
  readonly configFile: string;
  /** Absolute path of the env file; it may not exist. */
  readonly envFile?: string;
  readonly graphs: readonly (ExportSpec & { readonly id: string; readonly description?: string })[];
  /** Nothing can be changed or run. No file says so: the command `open` does. */
  readonly isReadOnly?: boolean;
  /** Graphs in the file that this server cannot run, each with the reason. */
  readonly unserved: readonly {
    readonly id: string;
    readonly description?: string;
    readonly reason: string;
  }[];
  readonly auth?: ExportSpec;
  /** Additions of `auth.openapi` to the OpenAPI document. */
  readonly authOpenapi?: JsonObject;
  readonly http: HttpConfig;
  readonly webhooks: WebhooksConfig;
  readonly threadTtl: {
    /** Time to live of new threads; null: none. */
    readonly byDefault: { readonly strategy: 'delete' | 'keep-latest'; readonly minutes: number } | null;
    readonly sweepIntervalMinutes: number;
    /** Maximum number of threads in one sweep. */
    readonly sweepLimit: number;
  };
  readonly store: {
    readonly refreshOnRead: boolean;
    /** Minutes; null: never. */
    readonly defaultTtl: number | null;
    /** Null: expired items are hidden but stay on disk. */
    readonly sweepIntervalMinutes: number | null;
    /** Semantic search; absent: disabled. */
    readonly index?: {
      readonly dims: number;
      readonly embed: EmbeddingSpec;
      readonly fields: readonly string[];
    };
  };
  readonly crons: {
    /** Missed slots start one run for all of them, none, or one for each. */
    readonly catchUp: 'one' | 'none' | 'all';
    /** With `all`: maximum number of missed slots that start runs, the newest ones. */
    readonly catchUpLimit: number;
  };
  readonly recording: {
    /** Whether runs are recorded whose config does not say. */
    readonly byDefault: boolean;
    /** Limit of the compressed recording of one run. */
    readonly maxBytes: number;
    /** Environment variables whose values are kept. */
    readonly env: readonly string[];
  };
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** Keys accepted in `x-api-key` when there is no auth handler. */
  readonly apiKeys?: readonly string[];
  /** Keys with which the studio passes the auth handler as its own user; absent: no studio user. */
  readonly studioKeys?: readonly string[];
  /** Cache of auth results: key headers in lower case, lifetime, maximum number of callers. */
  readonly authCache?: {
    readonly keys: readonly string[];
    readonly ttlMs: number;
    readonly maxEntries: number;
  };
  readonly maxBodyBytes: number;
  /** Client time-outs: for request headers, for the whole request, and without reading any of a reply. */
  readonly patience: { readonly headersMs: number; readonly requestMs: number; readonly stalledMs: number };
  readonly runTimeoutMs: number;
  /** X6 Charges after which a run ends with an error. */
  readonly maxAttempts: number;
  /** Graph workers: at most `count` (0: graphs run in the server process), each with `memoryMb` MiB. */
  readonly workers: { readonly count: number; readonly memoryMb: number; readonly loadLimitMs: number };
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
  /** Time for which frames of an ended run can be read again. */
  readonly frameRetentionMs: number;
  /** Time for a graph to obey a stop before its run ends without it. */
  readonly stopGraceMs: number;
  /** Time for running graphs to finish at shutdown before they are aborted. */
  readonly drainMs: number;
  /** Time that shutdown waits for aborted graphs and open replies. */
  readonly shutdownGraceMs: number;
  /** Enables `POST /internal/truncate`, for development and tests. */
  readonly allowTruncate: boolean;
  readonly log: { readonly level: LogLevel; readonly json: boolean | undefined };
  /** Processor time for reading the types of one graph source file. */
  readonly schemaTimeoutMs: number;
  /** Default config and context of the graphs' system assistants. */
  readonly assistantDefaults: AssistantDefaults;
  /** Variables that `env` of the file adds; variables of the process are left out. */
  readonly env: Readonly<Record<string, string>>;
  /** Non-fatal findings, logged at start: keys without effect, a missing env file. */
  readonly warnings: readonly string[];
}

/** Base URL of the interface. Port 0: the port is unknown until the server listens. */
export const addressOf = ({ host, port, http }: Pick<Config, 'host' | 'port' | 'http'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}${http.mountPrefix}`;

/** Settings of the command line, which win over file and environment. */
export interface Overrides {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly data?: string | undefined;
}

/** All problems of the configuration, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
