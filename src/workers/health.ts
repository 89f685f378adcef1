/**
 * Health checks of a graph worker. X4 A blocked event loop alone is no reason to kill a worker. It is killed when it also
 * ignores a cancellation, has begun nothing, or may run code of an ended run. All times but `MAX_SILENCE_MS` and
 * `MAX_LAG_MS` are the worker's own time: a process that is not scheduled is healthy. Before `hello` no time passes.
 */
import { deafEnd, ended, memoryEnd, type WorkerEnd } from './fault-attribution.ts';
import type { GraphWorker } from './worker.ts';

/** A worker whose event loop is blocked for longer gets no new work. */
const DOUBTFUL_MS = 300;
/** A worker without a heartbeat for longer gets no new work. */
const MAX_LAG_MS = 10_000;
/** A worker that has begun nothing is killed when its event loop is blocked for longer. */
const MAX_UNUSED_STALL_MS = 5_000;
/** A worker must have begun nothing for this long: the latest heartbeat may be older than the end of its last run. */
const MIN_UNUSED_MS = 1_000;
/** A worker is killed when its channel is broken for longer, or a run unanswered, although its event loop turns. */
const MAX_DEAF_MS = 5_000;
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

/** `…Since`: start of the condition in own time, in milliseconds; undefined when it does not hold. */
export interface Health {
  /** The worker gets no new work. */
  isRetired: boolean;
  fatSince?: number | undefined;
  busySince?: number | undefined;
  idleSince?: number | undefined;
  unusedSince?: number | undefined;
}

/** Time for which the worker's event loop has been blocked, in milliseconds. */
const stalledMs = (worker: GraphWorker): number => worker.heartbeat()?.stalledMs ?? 0;

/** Milliseconds without a sign that the worker can begin a run. */
export const doubtMs = (worker: GraphWorker): number =>
  Math.max(stalledMs(worker), worker.deafMs(), worker.silentMs() - MAX_LAG_MS);

export const isDoubtful = (worker: GraphWorker): boolean => doubtMs(worker) > DOUBTFUL_MS;

export const isBusy = (worker: GraphWorker, { busySince }: Health): boolean =>
  worker.load > 0 && worker.ownMs() - (busySince ?? Infinity) > BUSY_MS;

export interface HealthLimits {
  readonly memoryMb: number;
  /** Own time for loading one graph, in milliseconds. */
  readonly loadLimitMs: number;
  /** Factor for limits of workers that have begun nothing. */
  readonly patience: number;
  /** The worker may be ended when it has nothing to do. */
  readonly isSurplus: boolean;
}

/** Updates `health` and returns the reason to end the worker, or undefined. */
export function examine(
  worker: GraphWorker,
  health: Health,
  { memoryMb, loadLimitMs, patience, isSurplus }: HealthLimits,
): WorkerEnd | undefined {
  const now = worker.ownMs();
  const since = (isSo: boolean, before: number | undefined): number | undefined =>
    isSo ? (before ?? now) : undefined;
  const heartbeat = worker.heartbeat();
  health.fatSince = since((heartbeat?.rss ?? 0) > memoryMb * 2 ** 20, health.fatSince);
  health.busySince = since((heartbeat?.busyPermille ?? 0) > BUSY_PERMILLE, health.busySince);
  const isLoading = worker.loading.culprit() !== undefined;
  const isUnused = !worker.hasBegun && !isLoading;
  health.unusedSince = since(isUnused, health.unusedSince);
  health.idleSince = since(worker.load === 0 && !isLoading, health.idleSince);
  if (worker.overrunMs() > MAX_OVERRUN_MS || health.fatSince !== undefined || worker.isSpoiled())
    health.isRetired = true;

  const stalled = stalledMs(worker);
  const busy = 'A graph kept its worker busy and did not stop, so the worker was ended';
  if (worker.silentMs() > MAX_SILENCE_MS)
    return { by: 'crash', error: 'WorkerCrashed', message: 'The graph worker has shown no sign of life' };
  if (stalled > MAX_STOP_MS && worker.stopWaitMs() > MAX_STOP_MS)
    return { by: 'stuck', error: 'WorkerUnresponsive', message: busy };
  if (worker.deafMs() > MAX_DEAF_MS * patience) return deafEnd;
  if (stalled > MAX_UNUSED_STALL_MS * patience && now - (health.unusedSince ?? now) > MIN_UNUSED_MS)
    return { ...ended(busy), cause: 'stall' };
  if (worker.loading.loadingMs() > loadLimitMs) {
    const limit = `${Math.round(loadLimitMs / 1_000)} s (PLATFORM_GRAPH_LOAD_SECS)`;
    return ended(`the file has not loaded within ${limit}`);
  }
  // Code of an ended run may be what blocks the event loop, so the other runs continue in another worker.
  if (stalled > MAX_OVERRUN_MS && worker.mayOverrun()) return ended(busy);
  if (now - (health.fatSince ?? now) > MAX_OVER_MEMORY_MS) return memoryEnd(memoryMb);
  if (health.isRetired && isUnused) return ended('another worker has taken its place');
  if (isSurplus && now - (health.idleSince ?? now) > MAX_IDLE_MS)
    return { ...ended('it had nothing to do'), cause: 'idle' };
  return undefined;
}
