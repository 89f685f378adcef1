/**
 * One attempt at one run, from its lease to its end.
 *
 * X2 Every write carries the attempt's lease. X3 `finish` commits one terminal event, or is refused if the run has
 * ended. S1 Frame ids continue after earlier attempts; a frame is committed before a reader can see it. Reads wait for
 * the attempt's earlier writes; graph code waits for the disk only with durability `sync`.
 */
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../actors/store.ts';
import { closingFrames, readLedger } from '../actors/last-frames.ts';
import { LogFull, LogUnavailable } from '../store/port/log-failures.ts';
import type { Dispatched, Threads } from '../actors/threads.ts';
import type { CheckpointStore, Frame, LostAttempt, NewCheckpoint, RunLink } from '../graphs/port.ts';
import type { EventLog, Lease } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { Executing, Refusal } from '../thread/decide.ts';
import type { Outcome, ThreadEvent } from '../thread/events.ts';
import { withState } from '../protocol/stream-modes.ts';
import { LIFECYCLE, type SubgraphLedger } from '../protocol/subgraph-frames.ts';
import { findKept } from './kept-messages.ts';
import { toFailure, type Left } from './outcome.ts';
import type { Patience } from '../store/port/patience.ts';
import { openRunStore } from './run-store.ts';
import type { CommitInterval } from './commit-interval.ts';
import { openRunWrites, type RunWrite } from './run-writes.ts';

/** The lease is no longer valid: another attempt owns the run, or the run has ended. The graph must stop. */
class Fenced extends Error {
  constructor(runId: string) {
    super(`the lease on run ${runId} is no longer valid`);
    this.name = 'Fenced';
  }
}

export interface Execution {
  readonly link: RunLink;
  /** Adds a checkpoint with the unfinished messages of a cancelled run. It is committed with the run's end. */
  keep(ids: Ids): Promise<void>;
  /** Ends the run, storing an error's last frame and what the attempt left. */
  finish(outcome: Outcome, left?: Left): Promise<void>;
  /** Requeues the run without counting the attempt as lost. */
  handBack(reason: string): Promise<void>;
  /** Handles the death of the graph worker: retries a charged run until it has `maxCharges`, else requeues the run. */
  lose(how: LostAttempt, maxCharges: number): Promise<void>;
}

export interface ExecutionOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly store: Store;
  readonly threadId: string;
  readonly lease: Lease;
  /** The run has a webhook, whose body contains the thread's values at the end. */
  readonly owesWebhook: boolean;
  /** The thread was created for this run alone. */
  readonly temporary: boolean;
  readonly isRead: () => boolean;
  readonly commitInterval: CommitInterval;
  readonly lingerClock: Clock;
  /** Graph code waits until its writes are durable; otherwise it continues meanwhile. */
  readonly sync: boolean;
  /** Earlier attempts may have kept what they were answered. */
  readonly hasKept: boolean;
  /** The thread has no checkpoint but those that the attempt saves. */
  readonly isFirst: boolean;
  /** The id of the next frame. */
  readonly nextFrame: number;
  /** Subgraphs reported in the run's frames; undefined unless the client asked for the mode `lifecycle`. */
  readonly ledger: SubgraphLedger | undefined;
  /** Called just before graph code starts; once more when a worker gave the run back before that. */
  readonly onBegun: () => void;
  /** Called when a write is refused because of a stale lease. */
  readonly onFenced: () => void;
  readonly patiently: Patience;
}

const DISK_FULL_RETRY_MS = 1_000;

/** Refusals that mean another attempt owns the run, or its thread is deleted. */
const NOT_OWNED: ReadonlySet<string> = new Set<Refusal['code']>(['lease-stale', 'thread-missing']);

export function createExecution(options: ExecutionOptions): Execution {
  const { log, threads, threadId, lease, sync, onFenced, patiently } = options;
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
    return { kind: 'frames', runId, threadId, first, frames: frames.map(withState) };
  }

  /** `made` counts frames from graph code. `shifts`: where the ledger dropped or added frames. */
  let made = 0;
  const shifts: { readonly behind: number; readonly by: number }[] = [];

  function admit(frame: Frame, index: number): readonly Frame[] {
    const admitted = ledger?.admit(frame) ?? [frame];
    if (admitted.length !== 1) shifts.push({ behind: made + index, by: admitted.length - 1 });
    return admitted;
  }

  /** Returns the id of the last frame that precedes the checkpoint. */
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
    hasKept: options.hasKept,
    owesWebhook: options.owesWebhook,
    fenced,
    patiently,
  });

  /** No checkpoint of the thread is in the log, nor on its way there. */
  let isEmpty = options.isFirst;

  const checkpoints: CheckpointStore = {
    async load(ns, checkpointId) {
      if (isEmpty) return undefined;
      await writes.settled();
      return patiently(() => log.payloads.checkpoint(threadId, ns, checkpointId));
    },
    async list(query) {
      if (isEmpty) return [];
      await writes.settled();
      return patiently(() => log.payloads.checkpoints(threadId, query));
    },
    save(checkpoint) {
      isEmpty = false;
      const { usage, ...saved } = checkpoint;
      const { checkpointId, parentId, ns, step, source, body, blobs } = saved;
      const place = { checkpointId, parentId, ns, step, source };
      return writes.add(
        {
          command: { type: 'SaveCheckpoint', ...executing, ...place, ...(usage && { usage }) },
          payload: {
            kind: 'checkpoint',
            threadId,
            runId,
            checkpoint: saved,
            lastFrame: lastFrameOf(checkpoint),
          },
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

  const add = (
    payload: PayloadWrite & { data: string | Uint8Array },
    waits?: RunWrite['waits'],
  ): Promise<void> => writes.add({ payload, size: payload.data.length, ...(waits && { waits }) });

  /** Commits pending writes with the end. If they cannot be stored, `unstored` ends the attempt with that error. */
  async function close(end: () => Promise<Dispatched>, unstored: (error: unknown) => Promise<Dispatched>) {
    const done = await end().catch(async (error: unknown) => {
      if (error instanceof Fenced) return undefined;
      if (error instanceof LogUnavailable) throw error;
      // The next frame id is read from the log because frames that were not stored had taken ids.
      next = (await patiently(() => log.payloads.lastFrame(runId))) + 1;
      if (error instanceof LogFull) return insist(() => handBackForRoom());
      ledger &&= await patiently(() => readLedger(log, runId, { streamMode: [LIFECYCLE] }));
      return unstored(error);
    });
    if (done === undefined || done.ok || NOT_OWNED.has(done.refusal.code)) return;
    throw new Error(`the end of the attempt was refused: ${done.refusal.code}`);
  }

  /** L4 X5 On a full disk pending writes are lost; the next attempt continues from the last saved checkpoint. */
  const handBackForRoom = (): Promise<Dispatched> =>
    threads.dispatch(threadId, [{ type: 'RequeueRun', reason: 'the disk is full', ...executing }], {
      lease,
      isVital: true,
      payloads: lastFrames,
    });

  /** Retries until the disk has room: until then the thread shows a run that nothing executes. */
  async function insist(dispatch: () => Promise<Dispatched>): Promise<Dispatched> {
    for (;;)
      try {
        return await patiently(dispatch);
      } catch (error) {
        if (!(error instanceof LogFull)) throw error;
        await new Promise<void>((resolve) => options.lingerClock.after(DISK_FULL_RETRY_MS, resolve));
      }
  }

  /** Builds the closing frames of a completed run. No frame follows, so their ids are not counted. */
  const lastFrames = (events: readonly ThreadEvent[]): PayloadWrite[] =>
    events.flatMap(({ type, data }) => {
      const frames = type === 'RunCompleted' ? closingFrames(data.outcome, ledger) : [];
      return frames.length === 0 ? [] : [{ kind: 'frames', runId, threadId, first: next, frames }];
    });

  async function complete(outcome: Outcome, { untracked, ...seen }: Left = {}): Promise<Dispatched> {
    const command = { type: 'CompleteRun' as const, outcome, ...seen, ...executing };
    return writes.close(command, (events) => {
      const frames = lastFrames(events);
      return untracked === undefined
        ? frames
        : [...frames, { kind: 'untracked-values', runId, threadId, data: untracked }];
    });
  }

  const execution: Execution = {
    link: {
      checkpoints,
      store: openRunStore({ store: options.store, lease, fenced, patiently }),
      async begun() {
        if (lease.attempt > 1) {
          const begin = [{ type: 'BeginRun' as const, ...executing }];
          const marked = await patiently(() => threads.dispatch(threadId, begin, { lease, isVital: true }));
          if (!marked.ok) throw fenced();
        }
        options.onBegun();
      },
      emit: async (given) => {
        // A frame that is refused takes no id: the end's own frames come next.
        writes.assertOpen();
        const frames = ledger === undefined ? given : given.flatMap(admit);
        made += given.length;
        if (frames.length > 0) await writes.add({ payload: framesWrite(frames), size: sizeOf(frames) });
      },
      record: (data) => add({ kind: 'recording', runId, threadId, data }),
      keep: (data, base, isAnswer) =>
        add({ kind: 'resume', runId, threadId, data, base }, isAnswer ? 'answer' : 'other'),
      note: (data) => add({ kind: 'calls', runId, threadId, data }, 'company'),
    },
    async keep(ids) {
      // A failure reappears in the run's end.
      if (
        !(await writes.settled().then(
          () => true,
          () => false,
        ))
      )
        return;
      const kept = await patiently(() => findKept(log, { runId, threadId }, ids));
      if (kept === undefined) return;
      if (kept.writes.length > 0) await checkpoints.saveWrites('', kept.checkpoint.parentId!, kept.writes);
      await checkpoints.save(kept.checkpoint);
    },
    async finish(outcome, left) {
      await close(
        () => complete(outcome, left),
        (error) => complete(toFailure(error)),
      );
    },
    async handBack(reason) {
      const requeue = () => writes.close({ type: 'RequeueRun', reason, ...executing }, lastFrames);
      await close(requeue, requeue);
    },
    async lose({ charged, error, message }, maxCharges) {
      if (!charged) return execution.handBack(message);
      // The next attempt repeats what could not be stored.
      await writes.settled('with company').catch(() => undefined);
      writes.end();
      await insist(() =>
        threads.dispatch(
          threadId,
          [{ type: 'AbandonAttempt', runId, died: 'worker', maxCharges, reason: message, error }],
          { lease, isVital: true, payloads: lastFrames },
        ),
      );
    },
  };
  return execution;
}

const sizeOf = (texts: readonly { readonly data: string }[]): number =>
  texts.reduce((sum, { data }) => sum + data.length, 0);
