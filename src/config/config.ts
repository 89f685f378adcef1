/** The validated, frozen configuration of the server. */
import type { z } from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import type { ExportSpec } from './export-spec.ts';
import type { settings } from './settings.ts';

type Values = z.output<typeof settings>;

/** The settings, with paths resolved, and what else is found around the file. */
export interface Config extends Readonly<Omit<Values, 'auth' | 'dependencies' | 'env'>> {
  /** Absolute path of the env file; it may not exist. */
  readonly envFile?: string;
  /** Nothing can be changed or run. No file says so: the command `open` does. */
  readonly isReadOnly?: boolean;
  /** Graphs in the file that this server cannot run, each with the reason. */
  readonly unserved: readonly {
    readonly id: string;
    readonly description?: string;
    readonly reason: string;
  }[];
  readonly auth?: ExportSpec | undefined;
  /** Additions of `auth.openapi` to the OpenAPI document. */
  readonly authOpenapi?: JsonObject | undefined;
  readonly authCache?: NonNullable<Values['auth']>['cache'];
  /** Variables that `env` of the file adds; variables of the process are left out. */
  readonly env: Readonly<Record<string, string>>;
  /** Non-fatal findings, logged at start: names without effect, a missing env file. */
  readonly warnings: readonly string[];
}

/** Address of the log: that of its database, or else its folder. */
export const logAddressOf = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl ?? dataDir;

/** Base URL of the interface. Port 0: the port is unknown until the server listens. */
export const addressOf = ({ host, port, http }: Pick<Config, 'host' | 'port' | 'http'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}${http.mountPrefix}`;

/** Options of the command line, which win over file and environment. */
export type Overrides = Readonly<Partial<Record<'config' | 'host' | 'port' | 'data', string | undefined>>>;

/** All problems of the configuration, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
