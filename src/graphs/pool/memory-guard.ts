/** X4 Ends the worker whose graph uses more memory than it may, before V8 or the machine ends the process. */
import { openWorkerMemory } from '../../kernel/worker-memory.ts';
import type { GraphWorker } from './graph-worker.ts';

export interface MemoryGuard {
  /** Asked all the time; looks closer only after the process has grown. */
  look(workers: readonly GraphWorker[]): void;
  close(): void;
}

const MIB = 2 ** 20;
/** Worth a closer look: this part of a worker's limit. */
const PART = 8;
/** Beyond this many times the limit nobody waits for the garbage collector. */
const HOPELESS = 4;

export function createMemoryGuard(heapMb: number): MemoryGuard {
  const limit = heapMb * MIB;
  const memory = openWorkerMemory();
  const asking = new Set<GraphWorker>();
  let known = process.memoryUsage.rss();

  async function check(worker: GraphWorker): Promise<boolean> {
    if (asking.has(worker)) return true;
    asking.add(worker);
    try {
      let bytes = await memory.read(worker.threadId, false);
      if (bytes === undefined) return false;
      // Much of it may be dead already.
      if (bytes > limit && bytes < HOPELESS * limit) bytes = await memory.read(worker.threadId, true);
      if (bytes !== undefined && bytes > limit)
        worker.end({
          by: 'itself',
          error: 'WorkerHeapLimit',
          message: `The worker of the graph used more memory than its ${heapMb} MB (PLATFORM_WORKER_HEAP_MB)`,
        });
      return bytes !== undefined;
    } finally {
      asking.delete(worker);
    }
  }

  return {
    look(workers) {
      const now = process.memoryUsage.rss();
      if (now < known) known = now;
      if (now - known < limit / PART) return;
      const before = known;
      known = now;
      for (const worker of workers)
        void check(worker).then((answered) => {
          // Not heard yet: look again soon.
          if (!answered) known = Math.min(known, before);
        });
    },
    close: () => memory.close(),
  };
}
