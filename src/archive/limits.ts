/** Bounds of what a file may hold: it may be made by anybody, and costs an error. */
import { PRODUCT } from '../kernel/product.ts';
import type { ScanLimits } from '../kernel/json-scan.ts';

export const MAX_HEAD_BYTES = 1024 ** 2;
/** A text of this size may take twice as much in memory, and an import holds it three times. */
export const MAX_BODY_BYTES = 24 * 1024 ** 2;
/** Limit of a text that is completed from an earlier one. */
export const MAX_TEXT_UTF16_UNITS = MAX_BODY_BYTES;

/** SQLite's own functions refuse JSON that is nested deeper than 1,000. */
const MAX_DEPTH = 800;
export const HEAD_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 100_000 };
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
