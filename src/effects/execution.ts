/**
 * One attempt at one run, from its lease to its end.
 *
 * X2 Every write carries the attempt's lease. X3 `finish` is tried once and refused when the run has already ended.
 * S1 Frame ids continue after those of earlier attempts; a frame is committed before a reader can see it.
 *
 * What the graph saves and emits is taken in order and committed soon (run-writes.ts), its end with the last of it: the
 * graph does not wait for the disk unless it asked to. A read waits until what was written before is there.
 */
import type { Clock } from '../kernel/clock.ts';
import { stackOf } from '../kernel/stack.ts';
import type { Store } from '../actors/store.ts';
import { closingFrames, readLedger } from '../actors/last-frames.ts';
import { LogFull, LogUnavailable } from '../actors/log-failures.ts';
import type { Dispatched, Threads } from '../actors/threads.ts';
import type {
  CheckpointStore,
  Frame,
  LostAttempt,
  NewCheckpoint,
  RunEnd,
  RunLink,
  StopReason,
} from '../graphs/port.ts';
import type { EventLog, Lease } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { Executing, Refusal } from '../thread/decide.ts';
import type { Outcome, ThreadEvent } from '../thread/events.ts';
import { LIFECYCLE, type SubgraphLedger } from '../protocol/subgraph-frames.ts';
import { CHARGED } from '../thread/fault.ts';
import { stopReason } from '../thread/run-end.ts';
import { openRunStore } from './run-store.ts';
import type { CommitInterval } from './commit-interval.ts';
import { openRunWrites } from './run-writes.ts';

/** The attempt's lease is gone: somebody else owns the run, or nobody does. Whatever still runs must stop. */
export class Fenced extends Error {
  constructor(runId: string) {
    super(`the lease on run ${runId} is no longer valid`);
    this.name = 'Fenced';
  }
}

export interface Execution {
  readonly link: RunLink;
  /**
   * Ends the run with its outcome; an error is the stream's last frame, in the same commit, and so are the values that
   * no checkpoint holds (`untracked`, JSON text).
   */
  finish(outcome: Outcome, untracked?: string): Promise<void>;
  /** Puts the run back into the queue without counting the attempt as lost. */
  handBack(reason: string): Promise<void>;
  /** Its graph worker is gone: a charged run is tried again unless that was its last charge, others are handed back. */
  lose(how: LostAttempt, maxCharges: number): Promise<void>;
}

export interface ExecutionOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly store: Store;
  readonly threadId: string;
  readonly lease: Lease;
  /** The run's end is told to a receiver, with the values that it left. */
  readonly owesWebhook: boolean;
  /** The thread is there for this run alone. */
  readonly temporary: boolean;
  readonly isRead: () => boolean;
  readonly commitInterval: CommitInterval;
  readonly lingerClock: Clock;
  /** Graph code waits until what it saves is durable; otherwise it goes on meanwhile. */
  readonly sync: boolean;
  /** The id of the next frame. */
  readonly nextFrame: number;
  /** Subgraphs that the run has told of; undefined when its client did not ask for the mode `lifecycle`. */
  readonly ledger: SubgraphLedger | undefined;
  /** Called when graph code is about to start. */
  readonly onBegun: () => void;
  /** Called once when a write finds the lease gone. */
  readonly onFenced: () => void;
}

const ROOM_POLL_MS = 1_000;

/** Why an end may be refused: somebody else has the run, or nobody, because its thread is gone. */
const NOT_OURS: ReadonlySet<string> = new Set<Refusal['code']>(['lease-stale', 'thread-missing']);

export function createExecution(options: ExecutionOptions): Execution {
  const { log, threads, threadId, lease, sync, onFenced } = options;
  const { runId } = lease;
  const executing: Executing = lease;
  let next = options.nextFrame;
  let { ledger } = options;

  function fenced(): Fenced {
    onFenced();
    return new Fenced(runId);
  }

  function framesWrite(frames: readonly Frame[]): PayloadWrite {
    const first = next;
    next += frames.length;
    return { kind: 'frames', runId, threadId, first, frames };
  }

  /** Frames that graph code made, and where the ledger left some out or added some. */
  let made = 0;
  const shifts: { readonly behind: number; readonly by: number }[] = [];

  function admit(frame: Frame, index: number): readonly Frame[] {
    const told = ledger?.admit(frame) ?? [frame];
    if (told.length !== 1) shifts.push({ behind: made + index, by: told.length - 1 });
    return told;
  }

  /** The id of the last frame that belongs before the checkpoint. */
  function lastFrameOf({ frames }: NewCheckpoint): number {
    if (frames === undefined) return next - 1;
    const shift = shifts.reduce((sum, { behind, by }) => (behind < frames ? sum + by : sum), 0);
    return Math.min(options.nextFrame - 1 + frames + shift, next - 1);
  }

  const writes = openRunWrites({
    log,
    threads,
    threadId,
    lease,
    forgetful: options.temporary,
    isRead: () => sync || options.isRead(),
    commitInterval: options.commitInterval,
    clock: options.lingerClock,
    fenced,
  });

  const checkpoints: CheckpointStore = {
    async load(ns, checkpointId) {
      await writes.settled();
      return log.payloads.checkpoint(threadId, ns, checkpointId);
    },
    async list(query) {
      await writes.settled();
      return log.payloads.checkpoints(threadId, query);
    },
    save(checkpoint) {
      const { checkpointId, parentId, ns, step, source, body, blobs } = checkpoint;
      return writes.add(
        {
          command: { type: 'SaveCheckpoint', ...executing, checkpointId, parentId, ns, step, source },
          payload: { kind: 'checkpoint', threadId, runId, checkpoint, lastFrame: lastFrameOf(checkpoint) },
          size: body.length + sizeOf(blobs),
        },
        sync,
      );
    },
    saveWrites: (ns, checkpointId, written) =>
      writes.add(
        {
          payload: { kind: 'checkpoint-writes', threadId, runId, ns, checkpointId, writes: written },
          size: sizeOf(written),
        },
        sync,
      ),
  };

  /** One commit of what the attempt has written and of its end; what could not be stored is how it ended. */
  async function close(end: () => Promise<Dispatched>, unstored: (error: unknown) => Promise<Dispatched>) {
    // Its receiver is told the values of the last checkpoint. What went wrong there is heard of below.
    if (options.owesWebhook) await writes.settled().catch(() => undefined);
    const done = await end().catch(async (error: unknown) => {
      if (error instanceof Fenced) return undefined;
      if (error instanceof LogUnavailable) throw error;
      // The frames that were dropped had ids.
      next = (await log.payloads.lastFrame(runId)) + 1;
      if (error instanceof LogFull) return insist(() => handBackForRoom());
      ledger &&= await readLedger(log, runId, { streamMode: [LIFECYCLE] });
      return unstored(error);
    });
    if (done === undefined || done.ok || NOT_OURS.has(done.refusal.code)) return;
    throw new Error(`the end of the attempt was refused: ${done.refusal.code}`);
  }

  /** L4 X5 The attempt's last writes did not happen: the next one goes on from what was saved. */
  const handBackForRoom = (): Promise<Dispatched> =>
    threads.dispatch(threadId, [{ type: 'RequeueRun', reason: 'the disk is full', ...executing }], {
      lease,
      isVital: true,
      payloads: lastFrames,
    });

  /** Tries again while not even this can be written: as long the thread shows a run that nothing executes. */
  async function insist(dispatch: () => Promise<Dispatched>): Promise<Dispatched> {
    for (;;)
      try {
        return await dispatch();
      } catch (error) {
        if (!(error instanceof LogFull)) throw error;
        await new Promise<void>((resolve) => options.lingerClock.after(ROOM_POLL_MS, resolve));
      }
  }

  /** The last frames, where the run ends. No frame comes after them, so their ids are not counted. */
  const lastFrames = (events: readonly ThreadEvent[]): PayloadWrite[] =>
    events.flatMap(({ type, data }) => {
      const frames = type === 'RunCompleted' ? closingFrames(data.outcome, ledger) : [];
      return frames.length === 0 ? [] : [{ kind: 'frames', runId, threadId, first: next, frames }];
    });

  async function complete(outcome: Outcome, untracked?: string): Promise<Dispatched> {
    return writes.close({ type: 'CompleteRun', outcome, ...executing }, (events) => {
      const frames = lastFrames(events);
      return untracked === undefined
        ? frames
        : [...frames, { kind: 'untracked-values', runId, threadId, data: untracked }];
    });
  }

  const execution: Execution = {
    link: {
      checkpoints,
      store: openRunStore({ store: options.store, lease, fenced }),
      async begun() {
        if (lease.attempt > 1) {
          const marked = await threads.dispatch(threadId, [{ type: 'BeginRun', ...executing }], {
            lease,
            isVital: true,
          });
          if (!marked.ok) throw fenced();
        }
        options.onBegun();
      },
      emit: async (given) => {
        const frames = ledger === undefined ? given : given.flatMap(admit);
        made += given.length;
        if (frames.length > 0) await writes.add({ payload: framesWrite(frames), size: sizeOf(frames) });
      },
    },
    async finish(outcome, untracked) {
      await close(
        () => complete(outcome, untracked),
        (error) => complete(toFailure(error)),
      );
    },
    async handBack(reason) {
      const requeue = () => writes.close({ type: 'RequeueRun', reason, ...executing }, lastFrames);
      await close(requeue, requeue);
    },
    async lose({ charged, error, message }, maxCharges) {
      if (!charged) return execution.handBack(message);
      // What could not be stored is tried again by the next attempt.
      await writes.settled().catch(() => undefined);
      writes.end();
      await insist(() =>
        threads.dispatch(
          threadId,
          [{ type: 'AbandonAttempt', runId, verdict: CHARGED, maxCharges, reason: message, error }],
          { lease, isVital: true, payloads: lastFrames },
        ),
      );
    },
  };
  return execution;
}

const sizeOf = (texts: readonly { readonly data: string }[]): number =>
  texts.reduce((sum, { data }) => sum + data.length, 0);

function toFailure(error: unknown): Outcome {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const stack = stackOf(error);
  return { kind: 'error', error: name, message, ...(stack !== undefined && { origin: { stack } }) };
}

/** Values that a graph showed at its end and that no checkpoint holds. */
export const untrackedOf = (end: RunEnd | LostAttempt): string | undefined =>
  end.kind === 'success' ? end.untracked : undefined;

/** What a graph's end means for the run, given why it was told to stop, if it was. */
export function outcomeOf(
  end: RunEnd | LostAttempt,
  stop: StopReason | undefined,
  timeoutMs: number,
): Outcome {
  if (end.kind === 'success') return { kind: 'success', next: end.next, interrupts: toJson(end.interrupts) };
  if (end.kind === 'error') return end;
  const next = end.kind === 'stopped' ? end.next : undefined;
  switch (stop) {
    case 'timeout':
      return { kind: 'timeout', message: `The run exceeded its time limit of ${timeoutMs / 1000} s.` };
    case 'rollback':
      return { kind: 'rolled-back', reason: stopReason.cancel('rollback') };
    default:
      return { kind: 'cancelled', reason: stopReason.cancel('interrupt'), ...(next && { next }) };
  }
}

const toJson = (interrupts: Extract<RunEnd, { kind: 'success' }>['interrupts']) =>
  Object.fromEntries(Object.entries(interrupts).map(([task, list]) => [task, [...list]]));
