/**
 * The frame around one attempt at a run, whatever kind of graph it is.
 *
 * X2 When the server refuses a write or a frame, the attempt ends at once with that error: going on would only
 *    compute what nobody may store. X3 Once the attempt is over nothing it started is saved or emitted any more,
 *    however long graph code that ignores its signal goes on.
 */
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CheckpointStore, NewCheckpoint, RunEnd, RunLink, StopReason } from './port.ts';
import type { StorePort } from './store-port.ts';
import { toErrorEnd } from './failure.ts';
import { openFrameSink, type FrameSink } from './frame-sink.ts';

export interface AttemptStore extends CheckpointStore {
  /** `made`: how many frames belong before the checkpoint; asked when it is handed over, and all that were made by default. */
  save(checkpoint: NewCheckpoint, made?: () => number): Promise<void>;
}

export interface Attempt {
  /** Aborts when the server stops the run and when the attempt failed. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly frames: FrameSink;
  /** The server's store; its writes reject once the attempt is over. */
  readonly store: AttemptStore;
  /** The items that graph code keeps beyond its thread; refuses once the attempt is over. */
  readonly items: StorePort;
  /** Ends the attempt with this error; the first one counts. */
  fail(error: unknown): void;
}

/** How long the end of an attempt waits for writes that the server has not answered yet, in milliseconds. */
const LAST_WRITES = 5_000;
/** How long graph code that was told to stop may take for it, in milliseconds. */
const WIND_DOWN = 5_000;

/** Never rejects; what is left of an attempt is not waited for once `closing` aborts. An abort of `signal` wins over whatever `work` makes of it. */
export async function runAttempt(
  link: RunLink,
  signal: AbortSignal,
  clock: Clock,
  closing: AbortSignal,
  work: (attempt: Attempt) => Promise<RunEnd>,
): Promise<RunEnd> {
  if (signal.aborted) return { kind: 'stopped' };
  const own = new AbortController();
  let failure: { readonly error: unknown } | undefined;
  let over = false;
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
    return writing.finally(() => underWay.delete(writing));
  };
  const attempt: Attempt = {
    signal: AbortSignal.any([signal, own.signal]),
    clock,
    frames,
    store: {
      load: (ns, checkpointId) => link.checkpoints.load(ns, checkpointId),
      list: (query) => link.checkpoints.list(query),
      save(checkpoint, made = () => frames.made) {
        // A checkpoint says that what led to it is done: after a crash nobody would make its frames again. What a
        // runtime has shown may still be on its way here.
        return tracked(async () => {
          await breathe();
          const before = made();
          await frames.handOver();
          await link.checkpoints.save({ ...checkpoint, frames: before });
        });
      },
      saveWrites: (ns, id, writes) => tracked(() => link.checkpoints.saveWrites(ns, id, writes)),
    },
    items: { batch: (requests) => tracked(() => link.store.batch(requests)) },
    fail,
  };

  async function within(ms: number, what: Promise<unknown>): Promise<void> {
    if (closing.aborted) return;
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const cancel = clock.after(ms, leave);
    const onClosing = (): void => {
      cancel();
      leave();
    };
    closing.addEventListener('abort', onClosing, { once: true });
    await Promise.race([what, left]);
    closing.removeEventListener('abort', onClosing);
    cancel();
  }

  /** Nodes still to run when the graph was stopped; undefined until the graph says so. */
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
  // Whoever asked for the stop is told that it stopped: so it has, unless it is deaf.
  if (signal.aborted && signal.reason !== ('fenced' satisfies StopReason)) await within(WIND_DOWN, finished);
  // What was handed to the server already is let finish, so that nothing of this attempt arrives after its end.
  await within(LAST_WRITES, Promise.allSettled([frames.flush(), ...underWay]));
  if (signal.aborted) return { kind: 'stopped', ...(next !== undefined && { next }) };
  return end ?? toErrorEnd(failure?.error);
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
