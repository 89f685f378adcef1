/** Bounds of what a file may hold: it may be made by anybody, and costs an error. */
import { PRODUCT } from '../kernel/product.ts';
import type { ScanLimits } from '../kernel/json-scan.ts';

/** A file holds one thread, or a whole log. */
export type Scope = 'thread' | 'log';

export interface RecordLimits {
  readonly maxHeadBytes: number;
  /**
   * Also of a text that is completed from an earlier one, in UTF-16 units. A text of this size may take twice as much in
   * memory, and an import holds it three times.
   */
  readonly maxBodyBytes: number;
  readonly head: ScanLimits;
}

/** SQLite's own functions refuse JSON that is nested deeper than 1,000. */
const MAX_DEPTH = 800;
export const RECORD_LIMITS: Readonly<Record<Scope, RecordLimits>> = {
  thread: {
    ...{ maxHeadBytes: 1024 ** 2, maxBodyBytes: 24 * 1024 ** 2 },
    head: { maxDepth: MAX_DEPTH, maxWeight: 100_000 },
  },
  /** All that a log takes: a worker's message has 256 MiB at most. */
  log: {
    ...{ maxHeadBytes: 64 * 1024 ** 2, maxBodyBytes: 256 * 1024 ** 2 },
    head: { maxDepth: MAX_DEPTH, maxWeight: Infinity },
  },
};
/** Events are parsed in the server: a client's request body weighs at most 500,000. */
export const EVENT_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 520_000 };
/** Bounds of a thread's events, which come in one commit and are in memory then. */
export interface HistoryLimits {
  readonly maxEvents: number;
  /** Bound of the texts of all events together. */
  readonly maxUtf16Units: number;
  /** Follows the message of a refusal. */
  readonly wayOut: string;
}
/** The commit holds up the event loop of a server: 0.4 s at either bound. */
export const SERVED_HISTORY: HistoryLimits = {
  ...{ maxEvents: 20_000, maxUtf16Units: 32 * 1024 ** 2 },
  wayOut: `a server that runs takes no more; stop it and use "${PRODUCT} import FILE"`,
};
export const STOPPED_HISTORY: HistoryLimits = {
  ...{ maxEvents: 200_000, maxUtf16Units: 128 * 1024 ** 2 },
  wayOut: 'copy the thread where it is and export the copy, which has the state without the runs',
};
/** Other texts are parsed where graph code runs. */
export const TEXT_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 5_000_000 };
