/** What the stages of `wireServer` share. */
import type { Config } from '../config/config.ts';
import type { Permits } from '../effects/permits.ts';
import type { InProcessClient } from '../http/in-process-client.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Project } from '../load-project.ts';
import type { ServeOptions } from '../running-server.ts';
import type { Graphs } from '../workers/open-graphs.ts';

/** Parts that `startServer` has created. */
export interface Begun {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  readonly inProcess: InProcessClient;
  /** Serves requests of graph code, which carry the token. */
  readonly forWorkers: { readonly token: string; readonly fetch: typeof fetch };
  readonly permits: Permits;
  /** Graphs that load in a worker process meanwhile. */
  readonly graphs: Promise<Graphs>;
}

export interface Assembly extends Omit<Begun, 'graphs'>, Project {
  readonly config: Config;
  readonly options: ServeOptions;
  /** What the start warned of. */
  readonly warnings: readonly string[];
  /** Each stage adds how its parts stop; they stop in reverse order. */
  readonly stops: (() => Promise<unknown> | void)[];
}
