/** A server and the thread that renews its node share this. The thread says when it has joined, and ends when it is told to. */
export interface RenewalSetup {
  readonly url: string;
  readonly id: string;
  /** The node before, which was cut off. */
  readonly instead: string | undefined;
  /** One value of 64 bits for each of `CELLS`, which the thread writes. */
  readonly cells: BigInt64Array;
}

/**
 * `last`: when the last renewal that succeeded was asked for, by `processTime`. `isRefused`: 1 when the node is gone. `time`: the
 * store's time, milliseconds since 1970, at the moment `at` of `processTime`.
 */
export const CELLS = { last: 0, isRefused: 1, time: 2, at: 3 } as const;
export const createCells = (): BigInt64Array =>
  new BigInt64Array(new SharedArrayBuffer(8 * Object.keys(CELLS).length));
