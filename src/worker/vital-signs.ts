/**
 * Indexes into a shared `Float64Array` that the main thread writes and the lifeline thread reads. `isDevelopment` is 1 when
 * the server is one of `dev`.
 */
export const SIGN = { turns: 0, busyPermille: 1, isDevelopment: 2 } as const;
export const SIGN_BYTES = 8 * Object.keys(SIGN).length;
/** Interval at which the main thread increments `turns`. */
export const TURN_MS = 50;
