/**
 * One attempt at one run, from its lease to its end.
 *
 * X2 Every write carries the attempt's lease. X3 `finish` is tried once and refused when the run has already ended.
 * S1 Frame ids continue after those of earlier attempts; a frame is committed before a reader can see it.
 */
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../actors/store.ts';
import type { Threads } from '../actors/threads.ts';
import type { CheckpointStore, Frame, RunEnd, RunLink, StopReason } from '../graphs/port.ts';
import type { EventLog, Lease } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import type { Executing } from '../thread/decide.ts';
import type { Outcome } from '../thread/events.ts';
import { openRunStore } from './run-store.ts';

/** The attempt's lease is gone: somebody else owns the run, or nobody does. Whatever still runs must stop. */
export class Fenced extends Error {
  constructor(runId: string) {
    super(`the lease on run ${runId} is no longer valid`);
    this.name = 'Fenced';
  }
}

export interface Execution {
  readonly link: RunLink;
  /** Ends the run with its outcome; an error is the stream's last frame, in the same commit. */
  finish(outcome: Outcome): Promise<void>;
  /** Puts the run back into the queue without counting the attempt as lost. */
  handBack(reason: string): Promise<void>;
}

export interface ExecutionOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly store: Store;
  readonly ids: Ids;
  readonly threadId: string;
  readonly lease: Lease;
  /** The id of the next frame. */
  readonly nextFrame: number;
  /** Called once when a write finds the lease gone. */
  readonly onFenced: () => void;
}

export function createExecution(options: ExecutionOptions): Execution {
  const { log, threads, ids, threadId, lease, onFenced } = options;
  const { runId } = lease;
  const executing: Executing = lease;
  let next = options.nextFrame;

  function fenced(): Fenced {
    onFenced();
    return new Fenced(runId);
  }

  function framesWrite(frames: readonly Frame[]): PayloadWrite {
    const first = next;
    next += frames.length;
    return { kind: 'frames', runId, threadId, first, frames };
  }

  async function commit(payloads: readonly PayloadWrite[]): Promise<void> {
    const result = await log.commit({ commandId: ids.uuid(), appends: [], payloads, lease });
    if (result.kind === 'fenced-out') throw fenced();
    if (result.kind === 'unknown-outcome') throw new Error(`the log is unavailable: ${result.cause}`);
  }

  const checkpoints: CheckpointStore = {
    load: (ns, checkpointId) => log.payloads.checkpoint(threadId, ns, checkpointId),
    list: (query) => log.payloads.checkpoints(threadId, query),
    async save(checkpoint) {
      const { checkpointId, parentId, ns, step, source } = checkpoint;
      const saved = await threads.dispatch(
        threadId,
        [{ type: 'SaveCheckpoint', ...executing, checkpointId, parentId, ns, step, source }],
        { lease, payloads: [{ kind: 'checkpoint', threadId, runId, checkpoint }] },
      );
      if (!saved.ok) throw fenced();
    },
    saveWrites: (ns, checkpointId, writes) =>
      commit([{ kind: 'checkpoint-writes', threadId, runId, ns, checkpointId, writes }]),
  };

  return {
    link: {
      checkpoints,
      store: openRunStore({ store: options.store, lease, fenced }),
      emit: async (frames) => {
        if (frames.length > 0) await commit([framesWrite(frames)]);
      },
    },
    async finish(outcome) {
      const frame = errorFrame(outcome);
      await threads.dispatch(threadId, [{ type: 'CompleteRun', outcome, ...executing }], {
        lease,
        payloads: frame === undefined ? [] : [framesWrite([frame])],
      });
    },
    async handBack(reason) {
      await threads.dispatch(threadId, [{ type: 'RequeueRun', reason, lost: false, ...executing }], {
        lease,
      });
    },
  };
}

/** The last frame of a run that failed. */
export function errorFrame(outcome: Outcome): Frame | undefined {
  if (outcome.kind === 'error')
    return {
      event: 'error',
      data: JSON.stringify({ error: outcome.error, message: outcome.message }),
    };
  if (outcome.kind === 'timeout')
    return { event: 'error', data: JSON.stringify({ error: 'TimeoutError', message: outcome.message }) };
  return undefined;
}

/** What a graph's end means for the run, given why it was told to stop, if it was. */
export function outcomeOf(end: RunEnd, stop: StopReason | undefined, timeoutMs: number): Outcome {
  if (end.kind === 'success') return { kind: 'success', next: end.next, interrupts: toJson(end.interrupts) };
  if (end.kind === 'error') return end;
  switch (stop) {
    case 'timeout':
      return { kind: 'timeout', message: `The run exceeded its time limit of ${timeoutMs / 1000} s.` };
    case 'rollback':
      return { kind: 'rolled-back', reason: 'Rolled back by request.' };
    default:
      return { kind: 'cancelled', reason: 'Cancelled by request.' };
  }
}

const toJson = (interrupts: Extract<RunEnd, { kind: 'success' }>['interrupts']) =>
  Object.fromEntries(
    Object.entries(interrupts).map(([task, list]) => [task, list.map(({ id, value }) => ({ id, value }))]),
  );
