/**
 * How a graph worker does, and whether it has to end.
 *
 * X4 Slow code is no crime: a worker whose event loop stands still is killed only when a run on it was told to stop and has
 * not, or when nothing is waited for there.
 */
import { ended, memoryEnd, type WorkerEnd } from './blame.ts';
import type { GraphWorker } from './worker.ts';

/** A worker whose event loop stood still for longer is given nothing new. */
const DOUBTFUL_MS = 300;
/** A worker that stands still with nothing waited for is killed after this. */
const USELESS_MS = 5_000;
/** A run that was told to stop keeps a worker that stands still for so long. */
const STUCK_MS = 1_000;
/** A worker without a beat for so long is dead. */
const SILENT_MS = 60_000;
/** Code that outlives its run for so long retires its worker. */
const LEFTOVER_MS = 10_000;
/** A worker over its memory limit is killed after this. */
const FAT_MS = 2_000;
/** A loop that is busier is a reason for another worker, in thousandths. */
const BUSY_PERMILLE = 700;
const BUSY_MS = 1_000;
/** A worker beyond the first that has nothing to do for so long is ended. */
const SURPLUS_MS = 300_000;

/** Times are of the monotonic clock: since when the worker has been so. */
export interface Health {
  /** Nothing new is given to it. */
  isRetired: boolean;
  fatSince?: number | undefined;
  busySince?: number | undefined;
  idleSince?: number | undefined;
}

/** For how long the event loop has stood still, in milliseconds. */
export const stalledMs = (worker: GraphWorker): number =>
  Math.max(worker.beat()?.stalledMs ?? 0, worker.silentMs() - DOUBTFUL_MS);

export const isDoubtful = (worker: GraphWorker): boolean => stalledMs(worker) > DOUBTFUL_MS;

/** It has so much to do that another worker would help. */
export const isBusy = (worker: GraphWorker, { busySince }: Health, now: number): boolean =>
  worker.load > 0 && now - (busySince ?? now) > BUSY_MS;

/** Takes down how the worker is now, and returns why it has to end, if it has to. */
export function examine(
  worker: GraphWorker,
  health: Health,
  now: number,
  { memoryMb, isSurplus }: { readonly memoryMb: number; readonly isSurplus: boolean },
): WorkerEnd | undefined {
  const since = (isSo: boolean, before: number | undefined): number | undefined =>
    isSo ? (before ?? now) : undefined;
  const beat = worker.beat();
  health.fatSince = since((beat?.rss ?? 0) > memoryMb * 2 ** 20, health.fatSince);
  health.busySince = since((beat?.busyPermille ?? 0) > BUSY_PERMILLE, health.busySince);
  const isLoading = worker.loading.culprit() !== undefined;
  const isUnused = !worker.hasBegun && !isLoading;
  health.idleSince = since(worker.load === 0 && !isLoading, health.idleSince);
  if (worker.leftoverMs() > LEFTOVER_MS || health.fatSince !== undefined || worker.isSpoiled())
    health.isRetired = true;

  const stalled = stalledMs(worker);
  const busy = 'A graph kept its worker busy and did not stop, so the worker was ended';
  if (worker.silentMs() > SILENT_MS)
    return { by: 'crash', error: 'WorkerCrashed', message: 'The graph worker has shown no sign of life' };
  if (stalled > STUCK_MS && worker.stopWaitMs() > STUCK_MS)
    return { by: 'stuck', error: 'WorkerUnresponsive', message: busy };
  if (isUnused && stalled > USELESS_MS) return ended(busy);
  // Code that outlived its run may be what computes: the runs beside it go on elsewhere.
  if (stalled > LEFTOVER_MS && worker.mayHaveLeftovers()) return ended(busy);
  if (now - (health.fatSince ?? now) > FAT_MS) return memoryEnd(memoryMb);
  if (health.isRetired && isUnused) return ended('another worker has taken its place');
  if (isSurplus && now - (health.idleSince ?? now) > SURPLUS_MS) return ended('it had nothing to do');
  return undefined;
}
