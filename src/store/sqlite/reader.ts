/**
 * Scans on a thread of their own, so that a question that looks at every row holds up nobody but those that wait for
 * the same thread. The thread starts with the first question and is replaced when it dies.
 *
 * S3 What waits is bounded in number and in time: a question that is not answered within its limit is refused. A query
 * that ignores its limit is ended with its thread; a thread that is still starting is left to it, or on a busy machine
 * every question would end the start that the last one began. P1 A question is handed over after its caller saw the commit, and
 * reads in a transaction of its own, so it sees that commit; no transaction outlives its answer, and between two
 * answers `between` gives whoever needs the file without readers (the write-ahead log is cut then) his turn.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import { startWorker } from '../../kernel/worker.ts';
import { SearchRefused } from '../port/views/views.ts';
import type { Ask } from '../sql/ask.ts';
import type { Answer, Question, ReaderSetup } from './reader-protocol.ts';

export interface ReaderOptions extends ReaderSetup {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly limits?: ReaderLimits;
}

export interface ReaderLimits {
  /** Milliseconds from question to answer. */
  readonly searchMs: number;
  readonly waiting: number;
}

export interface Reader {
  readonly scan: Ask['scan'];
  /** Runs `turn` as soon as no query is under way, before the next one begins. */
  between(turn: () => void): void;
  /** Refuses what waits and ends the thread. */
  close(): Promise<void>;
}

const LIMITS: ReaderLimits = { searchMs: 10_000, waiting: 200 };
/** A query gives up by itself when its time is over; one that did not after this long never will. */
const GRACE_MS = 500;

interface Job {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly due: number;
  retried: boolean;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export function createReader({ clock, limits = LIMITS, ...setup }: ReaderOptions): Reader {
  const { searchMs } = limits;
  const waiting: Job[] = [];
  const turns: (() => void)[] = [];
  const ending = new Set<Promise<unknown>>();
  let worker: { readonly thread: Worker; ready: boolean } | undefined;
  let current: { job: Job; cancel(): void } | undefined;
  let closed = false;

  function start(): void {
    const thread = startWorker('store/sqlite/reader-entry', setup satisfies ReaderSetup);
    // A server that has nothing else to do may end.
    thread.unref();
    thread.on('message', (answer: Answer) => {
      if (worker?.thread === thread) hear(worker, answer);
    });
    thread.on('error', () => lose(thread));
    thread.on('exit', () => lose(thread));
    worker = { thread, ready: false };
  }

  function hear(from: { ready: boolean }, answer: Answer): void {
    if (answer.kind !== 'ready') return settle(answer);
    from.ready = true;
    ask();
  }

  function settle(answer: Exclude<Answer, { kind: 'ready' }>): void {
    const job = release();
    if (job === undefined) return;
    if (answer.kind === 'answer') job.resolve(answer.answer);
    else job.reject(answer.kind === 'slow' ? new SearchRefused('slow', searchMs) : new Error(answer.message));
    next();
  }

  function release(): Job | undefined {
    const job = current?.job;
    current?.cancel();
    current = undefined;
    return job;
  }

  /** The thread died by itself. Reading changes nothing, so its question is asked once more. */
  function lose(gone: Worker): void {
    if (worker?.thread !== gone) return;
    worker = undefined;
    const job = release();
    if (job !== undefined && !job.retried && !closed) {
      job.retried = true;
      waiting.unshift(job);
    } else job?.reject(new SearchRefused('closed', searchMs));
    next();
  }

  function end(): void {
    if (worker === undefined) return;
    const ended = worker.thread.terminate().finally(() => ending.delete(ended));
    ending.add(ended);
    worker = undefined;
  }

  function overrun(): void {
    const job = release();
    if (worker?.ready) end();
    job?.reject(new SearchRefused('slow', searchMs));
    next();
  }

  function next(): void {
    if (current !== undefined) return;
    for (const turn of turns.splice(0)) turn();
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const ms = job.due - clock.monotonic();
      if (ms <= 0) {
        job.reject(new SearchRefused('slow', searchMs));
        continue;
      }
      current = { job, cancel: clock.after(ms + GRACE_MS, overrun) };
      if (worker === undefined) start();
      return ask();
    }
  }

  /** Puts the question that is next, once the thread is there to hear it. */
  function ask(): void {
    if (current === undefined || !worker?.ready) return;
    const { name, args, due } = current.job;
    worker.thread.postMessage({ name, args, ms: due - clock.monotonic() } satisfies Question);
  }

  return {
    scan: ({ name }, ...args) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new SearchRefused('closed', searchMs));
        if (waiting.length >= limits.waiting) return reject(new SearchRefused('busy', searchMs));
        const due = clock.monotonic() + searchMs;
        const answered = resolve as (answer: unknown) => void;
        waiting.push({ name, args, due, retried: false, resolve: answered, reject });
        next();
      }),
    between(turn) {
      if (closed) return;
      turns.push(turn);
      next();
    },
    async close() {
      closed = true;
      turns.length = 0;
      const job = release();
      for (const refused of [...(job === undefined ? [] : [job]), ...waiting.splice(0)])
        refused.reject(new SearchRefused('closed', searchMs));
      end();
      await Promise.all(ending);
    },
  };
}
