/** Everything the server was told, checked and frozen. */
import type { JsonObject } from '../kernel/json.ts';
import type { EmbeddingSpec } from './embedding-spec.ts';
import type { ExportSpec } from './export-spec.ts';
import type { HttpConfig } from './http.ts';
import type { AssistantDefaults, LogLevel } from './environment.ts';
import type { WebhooksConfig } from './webhooks.ts';

export interface Config {
  readonly configFile: string;
  /** Absolute path of the env file that the configuration names, whether it exists or not. */
  readonly envFile?: string;
  readonly graphs: readonly (ExportSpec & { readonly id: string; readonly description?: string })[];
  /** Graphs that the file names and this server does not run, each with the reason. */
  readonly unserved: readonly {
    readonly id: string;
    readonly description?: string;
    readonly reason: string;
  }[];
  readonly auth?: ExportSpec;
  /** What `auth.openapi` adds to the description of the interface. */
  readonly authOpenapi?: JsonObject;
  readonly http: HttpConfig;
  readonly webhooks: WebhooksConfig;
  readonly threadTtl: {
    /** What new threads get; null when they stay. */
    readonly byDefault: { readonly strategy: 'delete' | 'keep-latest'; readonly minutes: number } | null;
    readonly sweepIntervalMinutes: number;
    /** How many threads one sweep deals with. */
    readonly sweepLimit: number;
  };
  readonly store: {
    readonly refreshOnRead: boolean;
    /** Minutes; null: for ever. */
    readonly defaultTtl: number | null;
    /** Null: what is expired is out of sight and stays on the disk. */
    readonly sweepIntervalMinutes: number | null;
    /** Search by meaning; there is none without it. */
    readonly index?: {
      readonly dims: number;
      readonly embed: EmbeddingSpec;
      readonly fields: readonly string[];
    };
  };
  readonly crons: {
    /** What happens to slots that were missed: one run for all of them, none, or one for each. */
    readonly catchUp: 'one' | 'none' | 'all';
    /** With `all`: how many at most, the newest ones. */
    readonly catchUpLimit: number;
  };
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly dataDir: string;
  /** Any of them is asked for in `x-api-key` when there is no auth handler. */
  readonly apiKeys?: readonly string[];
  /** With any of them the studio passes the auth handler as a user of its own; without, it is like everybody. */
  readonly studioKeys?: readonly string[];
  /** How long the auth handler's answers hold: by which headers (in lower case), for how many callers. */
  readonly authCache?: { readonly keys: readonly string[]; readonly ttlMs: number; readonly most: number };
  readonly maxBodyBytes: number;
  /** How long clients may take: over a request's headers, over all of it, and without taking any of a reply. */
  readonly patience: { readonly headersMs: number; readonly requestMs: number; readonly stalledMs: number };
  readonly runTimeoutMs: number;
  /** Deaths of its process that a run is charged with before it ends with an error (X6). */
  readonly maxAttempts: number;
  /** Processes for graph code, at most `count`: 0 runs it in the server's own. Each has so much memory, in MiB. */
  readonly workers: { readonly count: number; readonly memoryMb: number; readonly loadLimitMs: number };
  /** Runs that execute at once. */
  readonly concurrency: number;
  /** How long the frames of an ended run can be read again. */
  readonly frameRetentionMs: number;
  /** How long a graph that is told to stop may take before its run ends without it. */
  readonly stopGraceMs: number;
  /** How long running graphs may go on when the server stops, before they are told. */
  readonly drainMs: number;
  /** How long a stop waits for running graphs and open replies. */
  readonly shutdownGraceMs: number;
  /** `POST /internal/truncate` is there: for development and tests. */
  readonly allowTruncate: boolean;
  readonly log: { readonly level: LogLevel; readonly json: boolean | undefined };
  /** Processor time for reading the types of one source file of graphs. */
  readonly schemaTimeoutMs: number;
  /** Default config and context of the graphs' system assistants. */
  readonly assistantDefaults: AssistantDefaults;
  /** What `env` of the file adds to the process environment; the process's own values are left out. */
  readonly env: Readonly<Record<string, string>>;
  /** What is no reason to stop, told at start: keys that nothing here acts on, an env file that is not there. */
  readonly warnings: readonly string[];
}

/** Base address of the interface. Port 0 stands for a port that is known only once the server listens. */
export const addressOf = ({ host, port, http }: Pick<Config, 'host' | 'port' | 'http'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}${http.mountPrefix}`;

/** What the command line may override. */
export interface Overrides {
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly data?: string | undefined;
}

/** Every problem that was found, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
