/** Types of a running server and of its start options. */
import type { Items } from './actors/items.ts';
import type { Threads } from './actors/threads.ts';
import type { Graphs, OpenGraphsOptions } from './workers/open-graphs.ts';
import type { createApp } from './http/app.ts';
import type { Clock } from './kernel/clock.ts';
import type { JsonObject } from './kernel/json.ts';
import type { EventLog } from './store/port/log.ts';
import type { WorkerProcess } from './workers/spawn.ts';
import type { OnEntry } from './observe/entry.ts';

export interface RunningServer {
  readonly url: string;
  readonly graphIds: readonly string[];
  /** The log's address as people see it, without a password. */
  readonly place: string;
  readonly log: EventLog;
  readonly threads: Threads;
  readonly items: Items;
  /** The router, for tests that walk its routes. */
  readonly app: ReturnType<typeof createApp>;
  /** Refuses new requests, aborts running graphs, requeues their runs and closes the log. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly clock?: Clock;
  readonly onFault: (error: unknown, context: string) => void;
  /** Receives warnings about the configuration at start. */
  readonly onWarning?: (text: string) => void;
  /** Receives log entries. */
  readonly onEntry?: OnEntry;
  /** Logs all requests; otherwise only those that failed in the server. */
  readonly logsRequests?: boolean;
  /** L4 The outcome of a commit is unknown: the process must exit, and recovery decides. */
  readonly onPoisoned: (cause: string) => void;
  /** Known configuration problems. The start fails with them after all other checks, so all are reported together. */
  readonly problems?: readonly string[];
  /** Verdicts of `dev` on saves, the newest first. */
  readonly verdicts?: () => readonly JsonObject[];
  /** Replaces `openGraphs`, for reloadable graphs. */
  readonly openGraphs?: (options: OpenGraphsOptions) => Promise<Graphs>;
  /** A graph worker that was started ahead. */
  readonly firstWorker?: WorkerProcess | undefined;
}
