/** Frees memory of idle threads: V8 collects only on allocation, so an idle thread keeps its garbage. */
import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import type { Clock } from './clock.ts';

const CHECK_INTERVAL_MS = 1_000;
/** A thread is idle in an interval when it is busy for less than this fraction of it. */
const MAX_IDLE_UTILIZATION = 0.05;
/** Idle intervals in a row before a collection. */
const COLD_IDLE_INTERVALS = 2;
/**
 * Idle intervals before a collection once the thread has worked for `COLD_MS`. A full collection drops compiled code
 * of unused shapes, so work after it starts slowly: bursts of 2 s with 4 s of idle time took twice the processor time.
 */
const WARM_IDLE_INTERVALS = 60;
const COLD_MS = 3_000;
/** Minimum heap growth since the last collection. */
const MIN_GROWTH_BYTES = 2 * 2 ** 20;
/** Larger heaps are not collected: the pause would delay requests. */
const MAX_HEAP_BYTES = 96 * 2 ** 20;

export interface IdleMemoryOptions {
  readonly clock: Clock;
  /** Fraction of the time since the last call for which this thread was busy, 0 to 1. */
  readonly busy?: () => number;
  /** Size of this thread's heap in bytes. */
  readonly heapTotal?: () => number;
  readonly collect?: (clock: Clock) => void;
}

/** Watches the calling thread until the returned function is called. */
export function tendIdleMemory(options: IdleMemoryOptions): () => void {
  const { clock, busy = loopBusy(), heapTotal = totalHeapSize, collect = collectAll } = options;
  let idleIntervals = 0;
  let workedMs = 0;
  /** Smallest heap size since the last collection, in bytes; undefined right after it. */
  let minHeapBytes: number | undefined = 0;
  let cancel = clock.after(CHECK_INTERVAL_MS, check);
  function check(): void {
    const utilization = busy();
    workedMs += utilization * CHECK_INTERVAL_MS;
    idleIntervals = utilization < MAX_IDLE_UTILIZATION ? idleIntervals + 1 : 0;
    const requiredIntervals = workedMs < COLD_MS ? COLD_IDLE_INTERVALS : WARM_IDLE_INTERVALS;
    const total = heapTotal();
    minHeapBytes = minHeapBytes === undefined ? total : Math.min(minHeapBytes, total);
    if (
      idleIntervals >= requiredIntervals &&
      total - minHeapBytes > MIN_GROWTH_BYTES &&
      total < MAX_HEAP_BYTES
    ) {
      collect(clock);
      minHeapBytes = undefined;
      idleIntervals = 0;
    }
    cancel = clock.after(CHECK_INTERVAL_MS, check);
  }
  return () => cancel();
}

function totalHeapSize(): number {
  // `process.memoryUsage` opens a file, and throws when file descriptors are exhausted.
  return v8.getHeapStatistics().total_heap_size;
}

function loopBusy(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Runs a full collection, which also shrinks the young generation; takes about 50 ms for a small heap. */
function collectAll(clock: Clock): void {
  const session = new Session();
  session.connect();
  // Disconnects outside the callback: `disconnect` within the answer never returns.
  session.post('HeapProfiler.collectGarbage', () => clock.after(0, () => session.disconnect()));
}
