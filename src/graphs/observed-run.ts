/**
 * Observes graph code: installs the interceptors of `recording/`, and gives an attempt its session, which records the run, keeps
 * its calls for the next attempt, or both.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { breathe } from '../kernel/breathe.ts';
import { interceptClock } from '../recording/clock.ts';
import { interceptDispatchers, interceptFetch } from '../recording/dispatchers.ts';
import { openKeeper, type Keeper } from '../recording/keeper.ts';
import { unpackKept } from '../recording/kept-calls.ts';
import { interceptNodeHttp } from '../recording/node-http.ts';
import { interceptWork } from '../recording/open-work.ts';
import { watchOutside } from '../recording/outside.ts';
import { interceptRandomness } from '../recording/randomness.ts';
import { currentSession, insideQueue, insideSession, noteAsker, type Session } from '../recording/session.ts';
import { interceptTimers } from '../recording/timers.ts';
import type { RepeatedCalls } from '../thread/origin.ts';
import type { StoreQueue } from './codec.ts';
import type { RunLink, RunOrder } from './port.ts';
import { recordRun } from './recorded-run.ts';

export interface ObservedRun {
  readonly session: Session;
  readonly isRecorded: boolean;
  readonly link: RunLink;
  /** Runs `work`, and everything asynchronous that it starts, in the session. */
  inside<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Call it when the attempt has ended, though its code may go on: a recording has what that still waits for as open. Returns
   * what the attempt was served of earlier ones, and what it asked again.
   */
  end(): readonly RepeatedCalls[];
}

/** Call it before graph code loads: a module may keep these functions for its runs. */
export function observeGraphCode(): void {
  interceptClock();
  interceptRandomness();
  interceptTimers();
  interceptFetch();
  interceptWork();
  watchOutside();
}

const observed = new WeakSet<StoreQueue>();

/**
 * Lets queued operations of the item store keep the task that asked, since the library sends them outside of tasks, and
 * tells the timers of each queue from others.
 *
 * The library polls a queue every millisecond from the run's start, and the run's end waits for the last timer. A queue whose
 * timers are not recorded polls from its first operation on. Without one a run's end waits for a turn of the event loop: an
 * error discards what of the run's stream is not read yet.
 */
export function watchQueues(queue: StoreQueue | undefined): void {
  if (queue === undefined || observed.has(queue)) return;
  observed.add(queue);
  const { start, stop, enqueueOperation, processBatchQueue } = queue;
  const idle = new WeakMap<StoreQueue, () => void>();
  queue.start = function () {
    if (this.running || this.queue.size > 0 || currentSession()?.timer !== undefined) return start.call(this);
    const ofRun = AsyncLocalStorage.snapshot();
    this.running = true;
    idle.set(this, () => {
      this.running = false;
      ofRun(() => start.call(this));
    });
  };
  queue.stop = async function () {
    if (idle.delete(this)) await breathe();
    return stop.call(this);
  };
  queue.enqueueOperation = function (operation) {
    noteAsker(operation, currentSession()?.currentTask());
    const result = enqueueOperation.call(this, operation);
    const poll = this.running ? idle.get(this) : undefined;
    idle.delete(this);
    poll?.();
    return result;
  };
  queue.processBatchQueue = function () {
    const session = currentSession();
    const poll = () => processBatchQueue.call(this);
    return session === undefined ? poll() : insideQueue(session, poll);
  };
}

/** `file`: absolute path of the graph. Undefined when the run is neither recorded nor kept. */
export function observeRun(
  order: RunOrder,
  link: RunLink,
  file: string,
  now: () => number,
): ObservedRun | undefined {
  const { recording, calls, attempt } = order;
  let keeper: Keeper | undefined;
  // Recordings have what was served, too.
  const read: RunLink['store'] = {
    batch: (requests) =>
      keeper === undefined
        ? link.store.batch(requests)
        : keeper.read(requests, async (open) => link.store.batch(open)),
  };
  const recorded = recording && recordRun({ order, recording, link: { ...link, store: read }, file, now });
  const recorder = recorded?.recorder;
  const linked = recorded?.link ?? { ...link, store: read };
  if (calls !== undefined)
    keeper = openKeeper({
      ...{ attempt, recorder, charges: calls.charges, maxBytes: calls.maxBytes, keys: calls.keys },
      seed: recording?.seed ?? calls.seed,
      kept: calls.kept.map((part) => unpackKept(Buffer.from(part, 'base64'))),
      keptBytes: calls.kept.reduce((sum, part) => sum + Buffer.byteLength(part, 'base64'), 0),
      // A refused part also refuses the attempt's checkpoints, which ends it with that error.
      write: (...part) => void linked.keep(...part).catch(() => undefined),
    });
  const session = keeper ?? recorder;
  if (session === undefined) return undefined;
  observeGraphCode();
  interceptNodeHttp();
  return {
    ...{ session, isRecorded: recorder !== undefined },
    link: keeper === undefined ? linked : noteSaves(linked, keeper.saved.bind(keeper)),
    inside: (work) =>
      insideSession(session, async () => {
        interceptDispatchers(recorder !== undefined);
        return work();
      }),
    end() {
      recorder?.end();
      return keeper?.repeated() ?? [];
    },
  };
}

const noteSaves = (link: RunLink, saved: (checkpointId: string) => void): RunLink => ({
  ...link,
  checkpoints: {
    load: (...of) => link.checkpoints.load(...of),
    list: (query) => link.checkpoints.list(query),
    save(checkpoint) {
      if (checkpoint.ns === '') saved(checkpoint.checkpointId);
      return link.checkpoints.save(checkpoint);
    },
    saveWrites: (...of) => link.checkpoints.saveWrites(...of),
  },
});
