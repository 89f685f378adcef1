/**
 * Runs one attempt at a run for any kind of graph: tracks its writes, its frames and its end.
 *
 * X2 A refused write or frame ends the attempt at once with that error, because further results cannot be stored.
 * X3 After the attempt's end nothing is saved or emitted, even if graph code ignores its signal and continues.
 */
import { breatheTogether } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import { nodePathOf } from '../kernel/embedded-ids.ts';
import { inTurn } from '../recording/open-work.ts';
import type { CheckpointStore, NewCheckpoint, RunEnd, RunLink, StopReason } from './port.ts';
import type { Observed } from '../thread/origin.ts';
import type { Meter } from './meter.ts';
import type { StorePort } from './store-port.ts';
import { toErrorEnd } from './failure.ts';
import { openFrameSink, type FrameSink } from './frame-sink.ts';

export interface AttemptStore extends CheckpointStore {
  /** `made` returns how many frames precede the checkpoint; by default all pushed so far. It is called when the checkpoint is sent. */
  save(checkpoint: NewCheckpoint, made?: () => number): Promise<void>;
}

export interface Attempt {
  /** Aborts when the server stops the run and when the attempt failed. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly frames: FrameSink;
  /** The checkpoint store; its writes reject once the attempt is over. */
  readonly store: AttemptStore;
  /** Saves at once: no frames follow that precede the checkpoint. */
  saveNow(checkpoint: NewCheckpoint): Promise<void>;
  /** The cross-thread item store of graph code; rejects once the attempt is over. */
  readonly items: StorePort;
  /** Ends the attempt with this error. Later calls have no effect. */
  fail(error: unknown): void;
  /** The attempt's end has what `read` returns then. */
  observe(read: () => Observed): void;
}

/** Time limit at an attempt's end for writes that the server has not acknowledged. */
const PENDING_WRITES_TIMEOUT_MS = 5_000;
/** Time limit for graph code to return after its signal aborts. */
const STOP_TIMEOUT_MS = 5_000;

/** Never rejects. An abort of `signal` overrides the result of `work`; an abort of `closing` cuts both time limits short. */
export async function runAttempt(
  link: RunLink,
  signal: AbortSignal,
  clock: Clock,
  closing: AbortSignal,
  meter: Meter,
  work: (attempt: Attempt) => Promise<RunEnd>,
): Promise<RunEnd> {
  if (signal.aborted) return { kind: 'stopped' };
  // A controller that passes the stop on costs less than `AbortSignal.any`.
  const own = new AbortController();
  signal.addEventListener('abort', () => own.abort(signal.reason), { once: true });
  let failure: { readonly error: unknown } | undefined;
  let over = false;
  let observed: (() => Observed) | undefined;
  const underWay = new Set<Promise<unknown>>();

  const fail = (error: unknown): void => {
    if (failure !== undefined || over) return;
    failure = { error };
    own.abort(error);
  };
  const frames = openFrameSink(link.emit.bind(link), fail);
  const tracked = async <T>(write: () => Promise<T>): Promise<T> => {
    if (over) throw new Error('The attempt is over; nothing more is saved');
    const writing = write();
    underWay.add(writing);
    try {
      return await writing;
    } finally {
      underWay.delete(writing);
    }
  };
  async function sendCheckpoint(checkpoint: NewCheckpoint, before: number): Promise<void> {
    await frames.handOver();
    await link.checkpoints.save({ ...checkpoint, frames: before });
  }
  const attempt: Attempt = {
    signal: own.signal,
    clock,
    meter,
    frames,
    store: {
      load: (ns, checkpointId) =>
        inTurn(`load ${nodePathOf(ns)}`, () => link.checkpoints.load(ns, checkpointId)),
      list: (query) => inTurn('list', () => link.checkpoints.list(query)),
      save(checkpoint, made = () => frames.made) {
        // Frames before a checkpoint are sent first: after a crash the run resumes behind it and never emits them again.
        // The delay lets frames arrive that the runtime has already streamed.
        return tracked(async () => {
          await breatheTogether();
          await sendCheckpoint(checkpoint, made());
        });
      },
      saveWrites: (ns, id, writes) => tracked(() => link.checkpoints.saveWrites(ns, id, writes)),
    },
    saveNow: (checkpoint) => tracked(() => sendCheckpoint(checkpoint, frames.made)),
    items: { batch: (requests) => tracked(() => link.store.batch(requests)) },
    fail,
    observe: (read) => (observed = read),
  };

  async function within(ms: number, settled: Promise<unknown>): Promise<void> {
    if (closing.aborted) return;
    let expire = (): void => undefined;
    const expired = new Promise<void>((resolve) => (expire = resolve));
    const cancel = clock.after(ms, expire);
    const onClosing = (): void => {
      cancel();
      expire();
    };
    closing.addEventListener('abort', onClosing, { once: true });
    await Promise.race([settled, expired]);
    closing.removeEventListener('abort', onClosing);
    cancel();
  }

  /** Nodes still to run; undefined unless the graph returned normally. */
  let next: readonly string[] | undefined;
  const finished = (async (): Promise<RunEnd> => {
    try {
      const end = await work(attempt);
      if (end.kind === 'success') next = end.next;
      await frames.flush();
      return failure === undefined ? end : toErrorEnd(failure.error);
    } catch (error) {
      await frames.flush();
      return toErrorEnd(failure === undefined ? error : failure.error);
    }
  })();
  const cut = onceAborted(attempt.signal);
  const end = await Promise.race([finished, cut.promise]);
  cut.dispose();

  over = true;
  frames.close();
  // A stop is acknowledged only after graph code has returned, unless it ignores its signal.
  if (signal.aborted && signal.reason !== ('fenced' satisfies StopReason))
    await within(STOP_TIMEOUT_MS, finished);
  // Waits for the writes already sent, so that nothing of this attempt arrives after its end.
  if (underWay.size > 0 || !frames.isIdle)
    await within(PENDING_WRITES_TIMEOUT_MS, Promise.allSettled([frames.flush(), ...underWay]));
  const how: RunEnd = signal.aborted
    ? { kind: 'stopped', ...(next !== undefined && { next }) }
    : (end ?? toErrorEnd(failure?.error));
  const usage = meter.usage();
  return { ...how, ...(observed && { observed: observed() }), ...(usage && { usage }) };
}

function onceAborted(signal: AbortSignal): { promise: Promise<undefined>; dispose(): void } {
  let listener = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    listener = () => resolve(undefined);
  });
  if (signal.aborted) listener();
  signal.addEventListener('abort', listener, { once: true });
  return { promise, dispose: () => signal.removeEventListener('abort', listener) };
}
