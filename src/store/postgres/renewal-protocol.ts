/** Messages between the server and the thread that renews its node, and the memory that they share. */
export interface RenewalSetup {
  readonly url: string;
  /** Memory for one value of 64 bits for each of `CELLS`, which the thread writes. */
  readonly cells: SharedArrayBuffer;
}

/** `join` makes the node and renews it from then on, `leave` ends it and the thread. */
export type RenewalOrder =
  | { readonly kind: 'join'; readonly id: string; readonly instead: string | undefined }
  | { readonly kind: 'leave' };

export type RenewalAnswer =
  { readonly kind: 'joined' | 'left' } | { readonly kind: 'failed'; readonly message: string };

/**
 * `last`: when the last renewal that succeeded was asked for, by `processTime`. `isRefused`: 1 when the node is gone. `time`: the
 * store's time, milliseconds since 1970, at the moment `at` of `processTime`.
 */
export const CELLS = { last: 0, isRefused: 1, time: 2, at: 3 } as const;
export const CELL_BYTES = 8 * Object.keys(CELLS).length;
