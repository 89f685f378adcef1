/** A run attempt on a graph worker: its order, its writes on their way into the log, and its end. */
import type { CheckpointReader, LostAttempt, RunEnd, RunLink, RunOrder, StopReason } from '../graphs/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { takeSave } from './calls.ts';
import type { Connection } from './connection.ts';
import type { Message } from './frame.ts';
import { TYPE, WINDOW } from './messages.ts';
import { collectBlobs, packLoaded } from './packing.ts';
import { toWireError } from './wire-error.ts';

/** The checkpoint that a run needs first, read along with its order. */
export interface KnownHead {
  readonly checkpoint: Awaited<ReturnType<CheckpointReader['load']>>;
}

/** A run or a question under way. */
export interface Job {
  readonly checkpoints?: CheckpointReader;
  readonly link?: RunLink;
  /** Of a run. */
  readonly runId?: string;
  begun: boolean;
  /** It has saved a checkpoint. */
  saved: boolean;
  /** When it was told to stop, on the monotonic clock. */
  stopAt?: number;
  receive(message: Message): void;
  /** Its worker has ended; undefined gives a run back that has not begun. */
  lose(how: RunEnd | LostAttempt | undefined, message: string): void;
}

export interface RunJobOptions {
  /** Those of the worker, by stream. */
  readonly jobs: Map<number, Job>;
  readonly stream: number;
  readonly send: Connection['send'];
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly order: RunOrder;
  readonly link: RunLink;
  readonly signal: AbortSignal;
  readonly known: KnownHead | undefined;
  /** The run begins at once, without asking. */
  readonly go: boolean;
}

/** Resolves with undefined when the run was given back before it began. */
export function openRunJob(options: RunJobOptions): Promise<RunEnd | LostAttempt | undefined> {
  const { jobs, stream, send, clock, link, signal, go } = options;
  const credit = createCredit((bytes, messages) => send(TYPE.credit, stream, { bytes, messages }));
  let resolve: (how: RunEnd | LostAttempt | undefined) => void = () => undefined;
  const ended = new Promise<RunEnd | LostAttempt | undefined>((fn) => (resolve = fn));

  function settle(how: RunEnd | LostAttempt | undefined): void {
    jobs.delete(stream);
    signal.removeEventListener('abort', onAbort);
    resolve(how);
  }

  function onAbort(): void {
    job.stopAt = clock.monotonic();
    if (job.begun) return send(TYPE.cancel, stream, { reason: signal.reason as StopReason });
    send(TYPE.go, stream, { ok: false });
    settle({ kind: 'stopped' });
  }

  async function begin(): Promise<void> {
    try {
      await link.begun();
    } catch {
      // The lease is gone, and the signal of the attempt says so.
      send(TYPE.go, stream, { ok: false });
      return settle({ kind: 'stopped' });
    }
    job.begun = jobs.get(stream) === job;
    send(TYPE.go, stream, { ok: job.begun });
  }

  /** A write that is refused ends the run, which the graph's side does. */
  function take(blobs: readonly string[], taken: Promise<void>): void {
    taken.then(
      () => credit.give(blobs.reduce((sum, { length }) => sum + length, 0)),
      (error: unknown) => send(TYPE.refused, stream, { error: toWireError(error) }),
    );
  }

  const job: Job = {
    ...{ link, checkpoints: link.checkpoints, runId: options.order.runId, begun: go, saved: false },
    lose: settle,
    receive({ type, head, blobs }) {
      switch (type) {
        case TYPE.begin:
          return void begin();
        case TYPE.chunk:
          return take(blobs, link.emit(blobs.map((data, index) => ({ event: head.events[index], data }))));
        case TYPE.post:
          job.saved ||= head.m === 'cp.put';
          return take(blobs, takeSave(link, head, blobs));
        case TYPE.end:
          return settle(blobs.length === 0 ? head : { ...head, untracked: blobs[0] });
      }
    },
  };
  jobs.set(stream, job);
  signal.addEventListener('abort', onAbort, { once: true });
  sendOrder(options);
  if (signal.aborted) onAbort();
  return ended;
}

function sendOrder({ send, stream, order: full, known, go }: RunJobOptions): void {
  const { input, command, context, ...order } = full;
  const blobs = collectBlobs();
  const head = {
    ...{ order, go, input: blobs.add(JSON.stringify(input)) },
    ...(command !== undefined && { command: blobs.add(JSON.stringify(command)) }),
    ...(context !== undefined && { context: blobs.add(JSON.stringify(context)) }),
    ...(known !== undefined && { head: packLoaded(known.checkpoint, blobs) }),
  };
  send(TYPE.run, stream, head, blobs.list);
}

/** Gives credit back in few messages: when half of the window was taken. */
function createCredit(give: (bytes: number, messages: number) => void): { give(bytes: number): void } {
  let taken = { bytes: 0, messages: 0 };
  return {
    give(bytes) {
      taken = { bytes: taken.bytes + bytes, messages: taken.messages + 1 };
      if (taken.bytes < WINDOW.bytes / 2 && taken.messages < WINDOW.messages / 2) return;
      give(taken.bytes, taken.messages);
      taken = { bytes: 0, messages: 0 };
    },
  };
}
