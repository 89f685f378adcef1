/** A server in this process: what it is started with, and what is known of it once it runs. */
import type { Items } from './actors/items.ts';
import type { Threads } from './actors/threads.ts';
import type { Graphs, OpenGraphsOptions } from './workers/open-graphs.ts';
import type { createApp } from './http/app.ts';
import type { Clock } from './kernel/clock.ts';
import type { EventLog } from './log/log.ts';
import type { OnEntry } from './observe/entry.ts';

export interface RunningServer {
  readonly url: string;
  readonly graphIds: readonly string[];
  readonly log: EventLog;
  readonly threads: Threads;
  readonly items: Items;
  /** The router, for tests that walk it. */
  readonly app: ReturnType<typeof createApp>;
  /** Takes no new requests, tells running graphs to stop, hands their runs back, closes the log. */
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly clock?: Clock;
  readonly onFault: (error: unknown, context: string) => void;
  /** Hears, at start, what is allowed and may not be meant. */
  readonly onWarning?: (text: string) => void;
  /** Gets what the server says about its own work. */
  readonly onEntry?: OnEntry;
  /** Requests become entries as well; without it, only those that the server failed to answer. */
  readonly logsRequests?: boolean;
  /** The log cannot say what happened to a commit (L4): the process has to end, recovery decides. */
  readonly onPoisoned: (cause: string) => void;
  /** Problems of the configuration. They end the start once everything else is checked, so that all are told at once. */
  readonly problems?: readonly string[];
  /** `openGraphs` unless the graphs are to be reloaded. */
  readonly openGraphs?: (options: OpenGraphsOptions) => Promise<Graphs>;
}
