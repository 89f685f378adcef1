/**
 * Keeps runs of one process apart within packages. `p-queue`, in which the library queues the callbacks of all runs, reads
 * the clock in whichever run moves it on, also where it has no interval. This module also switches off the pools of random bytes in `nanoid` and `uuid`: what one run leaves in a pool would decide the ids of the
 * next one, and a re-execution in a fresh process would find other ids.
 */
import type { LoadFnOutput } from 'node:module';

/** URLs of the packages' JavaScript. */
export const POOLED = /\/node_modules\/(?:nanoid|uuid|p-queue)\/.*\.[cm]?js$/;

/** A pool has the size of one draw and is filled for each. */
const REPLACEMENTS = [
  ['POOL_SIZE_MULTIPLIER = 128', 'POOL_SIZE_MULTIPLIER = 1'],
  ['!pool || pool.length < bytes', 'true'],
  ['const now = Date.now();', 'const now = this._isIntervalIgnored ? Infinity : Date.now();'],
  ['rnds8Pool = new Uint8Array(256)', 'rnds8Pool = new Uint8Array(16)'],
] as const;

/** Unchanged where the source is not known or has no pool. */
export function withoutPool(loaded: LoadFnOutput): LoadFnOutput {
  const { source } = loaded;
  if (source === undefined || source === null) return loaded;
  const text = typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');
  return {
    ...loaded,
    source: REPLACEMENTS.reduce((changed, [from, to]) => changed.replace(from, to), text),
  };
}
