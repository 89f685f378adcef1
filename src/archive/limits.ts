/** Bounds of what a file may hold: it may be made by anybody, and costs an error. */
import type { ScanLimits } from '../kernel/json-scan.ts';

export const MAX_HEAD_BYTES = 1024 ** 2;
/** A text of this size may take twice as much in memory, and an import holds it three times. */
export const MAX_BODY_BYTES = 40 * 1024 ** 2;
/** Limit of a text that is completed from an earlier one. */
export const MAX_TEXT_UTF16_UNITS = MAX_BODY_BYTES;

/** SQLite's own functions refuse JSON that is nested deeper than 1,000. */
const MAX_DEPTH = 800;
export const HEAD_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 100_000 };
/** Events are parsed in the server: a client's request body weighs at most 500,000. */
export const EVENT_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 520_000 };
/** Other texts are parsed where graph code runs. */
export const TEXT_LIMITS: ScanLimits = { maxDepth: MAX_DEPTH, maxWeight: 5_000_000 };
