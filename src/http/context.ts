/** What routes work with. */
import type { HttpBindings } from '@hono/node-server';
import type { Actor } from '../auth/authenticate.ts';
import type { HttpConfig } from '../config/http.ts';
import type { BodyBudget } from './body.ts';
import type { Authorize } from '../auth/authorize.ts';
import type { AuthResult } from '../auth/authenticate.ts';
import type { Crons } from '../actors/crons.ts';
import type { Assistants } from '../actors/assistants.ts';
import type { Deliveries } from '../actors/deliveries.ts';
import type { Store } from '../actors/store.ts';
import type { Threads } from '../actors/threads.ts';
import type { ThreadMaintenance } from '../actors/thread-maintenance.ts';
import type { UrlPolicy } from '../delivery/url-policy.ts';
import type { GraphHost } from '../graphs/port.ts';
import type { StateHost } from '../graphs/state-port.ts';
import type { GraphDescriber } from '../graphs/schema-port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { EventLog } from '../log/log.ts';
import type { AccessFilter } from '../projections/filters.ts';
import type { RunStreams } from '../streams/run-stream.ts';
import type { ThreadStreams } from '../streams/thread-stream.ts';
import type { Inherit } from './header-rules.ts';
import type { Metrics } from './metrics.ts';
import type { RequestLog } from './request-log.ts';
import type { RequestCounts } from './request-metrics.ts';
import type { DocumentOptions } from './openapi/document.ts';
import type { ThreadEvents } from '../streams/thread-events.ts';
import type { Ttl } from '../thread/events.ts';

export interface ServerContext {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly crons: Crons;
  readonly describer: GraphDescriber;
  readonly graphs: GraphHost & StateHost;
  /** Why a graph of the configuration is not served, by its name. */
  readonly unserved: ReadonlyMap<string, string>;
  readonly store: Store;
  readonly maintenance: ThreadMaintenance;
  readonly deliveries: Deliveries;
  readonly streams: RunStreams;
  readonly threadStreams: ThreadStreams;
  readonly threadEvents: ThreadEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticate: (request: Request) => Promise<AuthResult>;
  /** Code of the project authenticates, and may read the request that it is given. */
  readonly asksHandler: boolean;
  readonly authorize: Authorize;
  /** Where webhooks may go; undefined when none are sent, and then whatever a run names is taken. */
  readonly urlPolicy?: UrlPolicy;
  readonly maxBodyBytes: number;
  /** Shared by all requests of the server. */
  readonly bodyBudget: BodyBudget;
  readonly http: HttpConfig;
  readonly metrics: Metrics;
  readonly requestCounts: RequestCounts;
  /** What the description of the interface needs beyond its operations. */
  readonly describe: Pick<DocumentOptions, 'apiKey' | 'merge'>;
  /** The headers that runs of this request find in their `configurable`. */
  readonly inherit: Inherit;
  /** What new threads get when their maker says nothing. */
  readonly defaultTtl?: Ttl | undefined;
  /** Whether everything may be deleted at once, by somebody on this machine. */
  readonly allowTruncate: boolean;
  readonly version: string;
  readonly requestLog?: RequestLog;
  readonly onFault: (error: unknown, context: string) => void;
  /** Aborts when the server stops: open streams end as a lost connection, so clients resume. */
  readonly stopping: AbortSignal;
}

/** What was settled about a request before it came to the built-in routes. */
export interface Admitted {
  readonly actor?: Actor;
  /** Its body; undefined when it was not read yet. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The request that custom middlewares were given. */
  readonly request?: Request;
}

/** Set by the app before a route runs. */
export interface RequestState {
  actor: Actor;
  /** The same, for handlers of the project's own app. */
  auth: Actor;
  /** The parsed body; undefined when there was none. */
  body: Json | undefined;
}

/** What the caller of a request to upgrade may do with the socket. */
export interface SocketGrant {
  readonly threadId: string;
  readonly actor: Actor;
  /** Of `threads:read`. */
  readonly filter: AccessFilter | undefined;
}

/** Present on requests to upgrade: the route that serves the socket says that it may be opened. */
export interface Upgrade {
  readonly upgrade: {
    /** The caller is known: from here on a refusal is told by the end of the socket, which browsers can read. */
    admit(): void;
    grant(grant: SocketGrant): void;
  };
}

export type Env = {
  Bindings: Partial<HttpBindings & Upgrade> & { admitted?: Admitted };
  Variables: RequestState;
};
