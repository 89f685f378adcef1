/** What routes work with. */
import type { HttpBindings } from '@hono/node-server';
import type { Actor } from '../auth/authenticate.ts';
import type { Authorize } from '../auth/authorize.ts';
import type { AuthResult } from '../auth/authenticate.ts';
import type { Assistants } from '../actors/assistants.ts';
import type { Store } from '../actors/store.ts';
import type { Threads } from '../actors/threads.ts';
import type { UrlPolicy } from '../delivery/url-policy.ts';
import type { GraphHost } from '../graphs/port.ts';
import type { StateHost } from '../graphs/state-port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import type { RunStreams } from '../streams/run-stream.ts';

export interface ServerContext {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly graphs: GraphHost & StateHost;
  readonly store: Store;
  readonly streams: RunStreams;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticate: (request: Request) => Promise<AuthResult>;
  readonly authorize: Authorize;
  readonly urlPolicy: UrlPolicy;
  readonly maxBodyBytes: number;
  readonly version: string;
  readonly onFault: (error: unknown, context: string) => void;
  /** Aborts when the server stops: open streams end as a lost connection, so clients resume. */
  readonly stopping: AbortSignal;
}

/** Set by the app before a route runs. */
export interface RequestState {
  actor: Actor;
  /** The parsed body; undefined when there was none. */
  body: Json | undefined;
}

export type Env = { Bindings: Partial<HttpBindings>; Variables: RequestState };
