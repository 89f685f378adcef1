/** Types of the dependencies and the per-request state that every route gets. */
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
import type { Json, JsonObject } from '../kernel/json.ts';
import type { EventLog } from '../store/port/log.ts';
import type { Filter } from '../kernel/filter.ts';
import type { RunStreams } from '../streams/run-stream.ts';
import type { ThreadStreams } from '../streams/thread-stream.ts';
import type { HeaderFilter } from './header-rules.ts';
import type { OpenedFiles } from './studio/opened-files.ts';
import type { Carriage } from './threads/spool.ts';
import type { Reexecutions } from './runs/reexecutions.ts';
import type { Page } from './system/docs/page.ts';
import type { Operation } from './system/operation.ts';
import type { Metrics } from './system/metrics.ts';
import type { RequestLog } from './request-log.ts';
import type { RequestCounts } from './system/request-metrics.ts';
import type { ThreadEvents } from '../streams/thread-events.ts';
import type { Ttl } from '../thread/events.ts';
import type { Budget } from '../thread/usage.ts';

/** What the server says about itself. */
export interface AboutServer {
  /** The OpenAPI document. */
  document(): JsonObject;
  /** The document as a page. */
  docs(): Page;
  /** Rejects when the log does not answer. */
  checkLog(): Promise<void>;
}

export interface ServerContext {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly assistants: Assistants;
  readonly crons: Crons;
  readonly describer: GraphDescriber;
  readonly graphs: GraphHost & StateHost;
  /** Reasons why configured graphs are not served, by graph name. */
  readonly unserved: ReadonlyMap<string, string>;
  readonly store: Store;
  readonly maintenance: ThreadMaintenance;
  readonly deliveries: Deliveries;
  readonly carriage: Carriage;
  readonly opened: OpenedFiles;
  readonly reexecutions: Reexecutions;
  /** Folders of the project's sources, that of its configuration first. */
  readonly projectFolders: readonly string[];
  readonly streams: RunStreams;
  readonly threadStreams: ThreadStreams;
  readonly threadEvents: ThreadEvents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticate: (request: Request) => Promise<AuthResult>;
  /** True when an authentication handler of the project runs; it may read the request's body. */
  readonly asksHandler: boolean;
  readonly authorize: Authorize;
  /** Rules for webhook URLs. Undefined when no webhooks are sent; runs may then name any URL. */
  readonly urlPolicy?: UrlPolicy;
  readonly maxBodyBytes: number;
  /** Shared by all requests of the server. */
  readonly bodyBudget: BodyBudget;
  readonly http: HttpConfig;
  readonly metrics: Metrics;
  readonly requestCounts: RequestCounts;
  readonly about: AboutServer;
  /** Selects the request headers that a run gets in its `configurable`. */
  readonly inherit: HeaderFilter;
  /** Time to live of threads that are created without one. */
  readonly defaultTtl?: Ttl | undefined;
  /** Verdicts of `dev` on saves, the newest first. */
  readonly verdicts: () => readonly JsonObject[];
  /** Limits of every run. */
  readonly budget?: Budget | undefined;
  /** Enables the route that deletes all data, for requests from this machine. */
  readonly allowTruncate: boolean;
  /** State of the server for its operator, as `GET /server` tells it. */
  readonly operation: Operation;
  /** Refuses all that changes or runs something. */
  readonly isReadOnly: boolean;
  /** True for a server that only this machine can reach. */
  readonly isLoopback: boolean;
  readonly version: string;
  readonly requestLog?: RequestLog;
  readonly onFault: (error: unknown, context: string) => void;
  /** Aborts when the server stops. Open streams then break off, so that clients resume them. */
  readonly stopping: AbortSignal;
}

/** Results of earlier middleware, so that the built-in routes neither authenticate nor read the body again. */
export interface Admitted {
  readonly actor?: Actor;
  /** The body; undefined when it has not been read yet. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** The request that custom middleware got. */
  readonly request?: Request;
}

/** Set by the app before a route runs. */
interface RequestState {
  actor: Actor;
  /** Equal to `actor`, under the name that handlers of the custom app use. */
  auth: Actor;
  /** The parsed body; undefined when there was none. */
  body: Json | undefined;
}

/** Thread and caller that an upgraded socket is authorized for. */
export interface SocketGrant {
  readonly threadId: string;
  readonly actor: Actor;
  /** The filter of `threads:read`. */
  readonly filter: Filter | undefined;
  /** See `Subscription.byGraph`. */
  readonly byGraph: boolean;
}

/** Present on upgrade requests: the socket's route calls `grant` to allow the upgrade. */
export interface Upgrade {
  readonly upgrade: {
    /** Marks the caller as authenticated: later refusals become close codes of the socket, which browsers can read. */
    admit(): void;
    grant(grant: SocketGrant): void;
  };
}

export type Env = {
  Bindings: Partial<HttpBindings & Upgrade> & {
    admitted?: Admitted;
    /** No app of the project has seen the request: it has the headers of `incoming`. */
    isDirect?: boolean;
  };
  Variables: RequestState;
};
