/**
 * Gives memory back while a thread has nothing to do. V8 cleans up when it allocates, so a thread that has loaded its
 * modules or done its work and then rests would keep what is dead for as long as it rests.
 */
import { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import v8 from 'node:v8';
import type { Clock } from './clock.ts';

const LOOK_MS = 1_000;
/** A thread rests that was busy for less than this part of the time, */
const BUSY = 0.05;
/** at so many looks in a row; */
const LOOKS = 2;
/**
 * at so many once it has worked for `COLD_MS`. V8 forgets with the last object of a shape what it compiled for it, so
 * whoever comes after a collection finds a thread that begins anew: bursts of two seconds with rests of four took twice
 * the processor time when each rest was long enough.
 */
const WARM_LOOKS = 60;
const COLD_MS = 3_000;
/** Less growth since the last time is not worth it, in bytes. */
const WORTH = 2 * 2 ** 20;
/** To look through more would hold up whoever comes meanwhile, in bytes. */
const MOST = 96 * 2 ** 20;

export interface IdleMemoryOptions {
  readonly clock: Clock;
  /** What part of the time since the last call this thread was busy, 0 to 1. */
  readonly busy?: () => number;
  /** The size of this thread's heap, in bytes. */
  readonly heapTotal?: () => number;
  readonly collect?: (clock: Clock) => void;
}

/** Tends the thread that calls it, until the returned function is called. */
export function tendIdleMemory(options: IdleMemoryOptions): () => void {
  const { clock, busy = loopBusy(), heapTotal = totalHeapSize, collect = collectAll } = options;
  let rested = 0;
  /** In milliseconds. */
  let worked = 0;
  /** The size of the heap when nothing could be had from it; unknown right after a collection. */
  let least: number | undefined = 0;
  let cancel = clock.after(LOOK_MS, look);
  function look(): void {
    const part = busy();
    worked += part * LOOK_MS;
    rested = part < BUSY ? rested + 1 : 0;
    const enough = worked < COLD_MS ? LOOKS : WARM_LOOKS;
    const total = heapTotal();
    least = least === undefined ? total : Math.min(least, total);
    if (rested >= enough && total - least > WORTH && total < MOST) {
      collect(clock);
      least = undefined;
      rested = 0;
    }
    cancel = clock.after(LOOK_MS, look);
  }
  return () => cancel();
}

function totalHeapSize(): number {
  // `process.memoryUsage` reads a file, and throws when the process may open no more of them.
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

/** All that can be had, and the room that the young had; takes some 50 ms of a thread with little in it. */
function collectAll(clock: Clock): void {
  const session = new Session();
  session.connect();
  // Whoever takes leave within the answer never comes back from it.
  session.post('HeapProfiler.collectGarbage', () => clock.after(0, () => session.disconnect()));
}
