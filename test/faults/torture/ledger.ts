/** What the server has promised so far, as its clients know it. */
import type { Answer } from '../../e2e/programs.ts';
import type { ReceivedFrame } from '../../e2e/frames.ts';

interface PromisedRun {
  readonly threadId: string;
  /** In the run's input. */
  readonly tag: string;
  readonly graph: string;
  /** Somebody asked for it to be rolled back: it may be gone. */
  rollback: boolean;
  /** What `wait` answered. */
  answer?: Answer['json'];
}

export interface WatchedStream {
  readonly path: string;
  readonly frames: ReceivedFrame[];
  /** The stream ended by itself: there is nothing more. */
  complete: boolean;
}

export interface Ledger {
  /** Acknowledged threads with the metadata that was acknowledged. */
  readonly threads: Map<string, Record<string, number>>;
  readonly runs: Map<string, PromisedRun>;
  /** By run. */
  readonly streams: Map<string, WatchedStream>;
  /** Threads whose deletion was asked for: true once it was acknowledged. */
  readonly deletions: Map<string, boolean>;
  /** By path of a webhook that was asked for: its run, undefined until acknowledged. Rolled-back runs are redacted in the log. */
  readonly webhooks: Map<string, string | undefined>;
  /** By tag in the metadata of a run that a request with a key asked for: the run, undefined until acknowledged. */
  readonly once: Map<string, string | undefined>;
  /** What should not have been seen. */
  readonly problems: string[];
  /** A number that nobody else has. */
  next(): number;
}

export function openLedger(): Ledger {
  let last = 0;
  return {
    threads: new Map(),
    runs: new Map(),
    streams: new Map(),
    deletions: new Map(),
    webhooks: new Map(),
    once: new Map(),
    problems: [],
    next: () => ++last,
  };
}
