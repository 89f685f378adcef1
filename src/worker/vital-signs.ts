/** Numbers that the worker's main thread shares with the thread of its life line. */

/** Slots of a `Float64Array`. */
export const SIGN = { turns: 0, busyPermille: 1 } as const;
export const SIGN_BYTES = 8 * Object.keys(SIGN).length;

/** Poll interval of the main thread: a loop that turns counts up at least so often. */
export const TURN_MS = 50;
