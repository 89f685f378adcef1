/**
 * X4 Ends the worker whose graph uses more memory than it may, before V8 or the machine ends the process.
 *
 * What a thread tells of itself is looked at first: objects and buffers, shared ones too, its own and those of the
 * threads it started. The rest (WebAssembly, messages that nobody has read yet, native code) is found by what the
 * process has beyond all that (memory-hunt.ts).
 */
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/within.ts';
import type { ThreadMemory, WorkerMemory } from '../../kernel/worker-memory.ts';
import type { GraphWorker } from './graph-worker.ts';
import type { WorkerEnd } from './worker-end.ts';
import { createMemoryHunt, type Sighting } from './memory-hunt.ts';
import { createStragglers } from './stragglers.ts';

export interface MemoryGuard {
  /** Asked all the time; looks closer only after the process has grown. */
  look(): void;
}

const MIB = 2 ** 20;
/** Worth a closer look: this part of a worker's limit. */
const PART = 8;
/** Beyond this many times the limit nobody waits for the garbage collector. */
const HOPELESS = 4;
/** How long a thread may take for its answer, in milliseconds; native code answers nothing. */
const PATIENCE_MS = 2_000;
/** When a worker ends, threads that nobody knows yet may be its own: they are asked only when those are gone. */
const SPARE_MS = 2_000;

/** `ending`: those that are to end and whose threads are still there. Those are asked nothing (stragglers.ts). */
export function createMemoryGuard(
  heapMb: number,
  clock: Clock,
  memory: WorkerMemory,
  workers: () => readonly GraphWorker[],
  ending: ReadonlySet<GraphWorker>,
): MemoryGuard {
  const limit = heapMb * MIB;
  const known = new Map<number, ThreadMemory>();
  /** The marks of threads that are there, also of those that have nothing to tell any more. */
  const marks = new Map<number, string | undefined>();
  /** Until when they are left alone; set once, or whoever ends workers could hide a thread for ever. */
  const spared = new Map<number, number>();
  const noticed = new WeakSet<GraphWorker>();
  const asking = new Map<number, Promise<boolean>>();
  const deciding = new Set<GraphWorker>();
  /** Those that did not answer in time: they are not waited for again before they do. */
  const mute = new Set<number>();
  const end: WorkerEnd = {
    by: 'itself',
    error: 'WorkerHeapLimit',
    message: `The worker of the graph used more memory than its ${heapMb} MB (PLATFORM_WORKER_HEAP_MB)`,
  };
  let seen = residentSize() ?? 0;
  let own = process.memoryUsage();

  /** Of the process and of this thread, as they were last when there is no file left to read them from. */
  function readOwn(): NodeJS.MemoryUsage {
    try {
      own = process.memoryUsage();
    } catch {
      // Whoever hunts has told runs to wait for what he finds.
    }
    return own;
  }

  /** Whether the thread answered. */
  async function ask(threadId: number, collect: boolean): Promise<boolean> {
    const found = await memory.read(threadId, collect);
    if (found === undefined) known.delete(threadId);
    else {
      known.set(threadId, found);
      marks.set(threadId, found.mark);
    }
    return found !== undefined;
  }

  function forget(threadId: number): void {
    known.delete(threadId);
    marks.delete(threadId);
    spared.delete(threadId);
  }

  /** Who is to end is seen here before anybody is asked. */
  function spareUnknown(): void {
    for (const worker of ending) {
      if (noticed.has(worker)) continue;
      noticed.add(worker);
      for (const each of memory.threads())
        if (!marks.has(each) && !spared.has(each)) spared.set(each, clock.monotonic() + SPARE_MS);
    }
  }

  const isSpared = (threadId: number): boolean => (spared.get(threadId) ?? 0) > clock.monotonic();

  /** One question at a time: who is busy with native code gathers none. */
  function askOnce(threadId: number): Promise<boolean> {
    const under = asking.get(threadId);
    if (under !== undefined) return under;
    const question = ask(threadId, false).finally(() => asking.delete(threadId));
    asking.set(threadId, question);
    return question;
  }

  const threadsOf = ({ threadId, mark }: Pick<GraphWorker, 'threadId' | 'mark'>): number[] =>
    [...new Set([threadId, ...marks.keys()])].filter((each) => each === threadId || marks.get(each) === mark);
  const usedBy = (worker: GraphWorker): number =>
    threadsOf(worker).reduce((sum, each) => sum + (known.get(each)?.used ?? 0), 0);

  async function judge(worker: GraphWorker): Promise<void> {
    if (deciding.has(worker) || ending.has(worker)) return;
    deciding.add(worker);
    try {
      const used = usedBy(worker);
      // Much of it may be dead already.
      if (used > limit && used < HOPELESS * limit)
        await Promise.all(threadsOf(worker).map((each) => ask(each, true)));
      if (usedBy(worker) > limit) worker.end(end);
    } finally {
      deciding.delete(worker);
    }
  }

  /** What the process has beyond what the workers and the server's own thread tell of; other threads may hide theirs. */
  async function survey(collect: boolean): Promise<Sighting> {
    const threads = memory.threads();
    spareUnknown();
    const leaving = new Set([...ending].flatMap(threadsOf));
    const asked = threads.filter((each) => !leaving.has(each) && !isSpared(each));
    const unheard = new Set(asked.filter((each) => !mute.has(each)));
    const waited = asked.map(async (each) => {
      const isWaitedFor = unheard.has(each);
      const answer = (collect ? ask(each, true) : askOnce(each)).then(() => {
        unheard.delete(each);
        mute.delete(each);
      });
      if (isWaitedFor) await answer;
    });
    await within(clock, PATIENCE_MS, Promise.all(waited));
    unheard.forEach((each) => mute.add(each));
    for (const each of mute) if (!threads.includes(each)) mute.delete(each);
    for (const each of [...marks.keys(), ...spared.keys()]) if (!threads.includes(each)) forget(each);
    const { rss, heapTotal, external, arrayBuffers } = readOwn();
    const told = new Set(workers().flatMap(threadsOf));
    const held = [...told].reduce((sum, each) => sum + (known.get(each)?.held ?? 0), 0);
    return { unseen: rss - heapTotal - Math.max(external, arrayBuffers) - held, threads: threads.length };
  }

  const hunt = createMemoryHunt({ limit, clock, workers, survey, end });
  const stragglers = createStragglers({
    ...{ limit, clock, threadsOf, stop: memory.stop },
    used: (threadId) => known.get(threadId)?.used ?? 0,
  });

  return {
    look() {
      const now = residentSize();
      spareUnknown();
      for (const worker of ending) stragglers.look(worker, now);
      if (now === undefined) return;
      if (now < seen) seen = now;
      const grown = now - seen >= limit / PART;
      if (!grown && !hunt.isOnTrail()) return;
      const before = seen;
      seen = now;
      for (const worker of workers()) {
        if (ending.has(worker)) continue;
        void askOnce(worker.threadId).then((answered) => {
          // Not heard yet: look again soon.
          if (!answered) seen = Math.min(seen, before);
          return judge(worker);
        });
      }
      void hunt.follow().then(() => workers().forEach((worker) => void judge(worker)));
    },
  };
}

/** Unknown when the process has no file left to read it from. */
function residentSize(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}
