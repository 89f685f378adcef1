/**
 * Health checks of a graph worker. X4 A blocked event loop alone is no reason to kill a worker. It is killed when it also
 * ignores a cancellation, has begun nothing, or may run code of an ended run.
 */
import { ended, memoryEnd, type WorkerEnd } from './fault-attribution.ts';
import type { GraphWorker } from './worker.ts';

/** A worker whose event loop is blocked for longer gets no new work. */
const DOUBTFUL_MS = 300;
/** A worker that has begun nothing is killed when its event loop is blocked for longer. */
const MAX_UNUSED_STALL_MS = 5_000;
/** A worker is killed when its event loop is blocked, and a cancellation ignored, for longer. */
const MAX_STOP_MS = 1_000;
/** A worker without a heartbeat for longer counts as dead. */
const MAX_SILENCE_MS = 60_000;
/** A worker gets no new work when code outlives its run for longer. */
const MAX_OVERRUN_MS = 10_000;
/** A worker over its memory limit for longer is killed. */
const MAX_OVER_MEMORY_MS = 2_000;
/** Another worker starts when event loop utilisation stays above this for `BUSY_MS`. */
const BUSY_PERMILLE = 700;
const BUSY_MS = 1_000;
/** A worker without work for longer is ended, unless it is the only one. */
const MAX_IDLE_MS = 300_000;

/** `…Since`: start of the condition on the monotonic clock, in milliseconds; undefined when it does not hold. */
export interface Health {
  /** The worker gets no new work. */
  isRetired: boolean;
  fatSince?: number | undefined;
  busySince?: number | undefined;
  idleSince?: number | undefined;
}

/** Time for which the worker's event loop has been blocked, in milliseconds. */
export const stalledMs = (worker: GraphWorker): number =>
  Math.max(worker.heartbeat()?.stalledMs ?? 0, worker.silentMs() - DOUBTFUL_MS);

export const isDoubtful = (worker: GraphWorker): boolean => stalledMs(worker) > DOUBTFUL_MS;

export const isBusy = (worker: GraphWorker, { busySince }: Health, now: number): boolean =>
  worker.load > 0 && now - (busySince ?? now) > BUSY_MS;

/** Updates `health` and returns the reason to end the worker, or undefined. */
export function examine(
  worker: GraphWorker,
  health: Health,
  now: number,
  { memoryMb, isSurplus }: { readonly memoryMb: number; readonly isSurplus: boolean },
): WorkerEnd | undefined {
  const since = (isSo: boolean, before: number | undefined): number | undefined =>
    isSo ? (before ?? now) : undefined;
  const heartbeat = worker.heartbeat();
  health.fatSince = since((heartbeat?.rss ?? 0) > memoryMb * 2 ** 20, health.fatSince);
  health.busySince = since((heartbeat?.busyPermille ?? 0) > BUSY_PERMILLE, health.busySince);
  const isLoading = worker.loading.culprit() !== undefined;
  const isUnused = !worker.hasBegun && !isLoading;
  health.idleSince = since(worker.load === 0 && !isLoading, health.idleSince);
  if (worker.overrunMs() > MAX_OVERRUN_MS || health.fatSince !== undefined || worker.isSpoiled())
    health.isRetired = true;

  const stalled = stalledMs(worker);
  const busy = 'A graph kept its worker busy and did not stop, so the worker was ended';
  if (worker.silentMs() > MAX_SILENCE_MS)
    return { by: 'crash', error: 'WorkerCrashed', message: 'The graph worker has shown no sign of life' };
  if (stalled > MAX_STOP_MS && worker.stopWaitMs() > MAX_STOP_MS)
    return { by: 'stuck', error: 'WorkerUnresponsive', message: busy };
  if (isUnused && stalled > MAX_UNUSED_STALL_MS) return ended(busy);
  // Code of an ended run may be what blocks the event loop, so the other runs continue in another worker.
  if (stalled > MAX_OVERRUN_MS && worker.mayOverrun()) return ended(busy);
  if (now - (health.fatSince ?? now) > MAX_OVER_MEMORY_MS) return memoryEnd(memoryMb);
  if (health.isRetired && isUnused) return ended('another worker has taken its place');
  if (isSurplus && now - (health.idleSince ?? now) > MAX_IDLE_MS) return ended('it had nothing to do');
  return undefined;
}
