/** The server's side of a run attempt on a graph worker: sends the order, takes the run's writes and its end. */
import type { CheckpointReader, LostAttempt, RunEnd, RunLink, RunOrder, StopReason } from '../graphs/port.ts';
import { takeSave } from './calls.ts';
import type { Connection } from './connection.ts';
import type { Message } from './frame.ts';
import { TYPE, WINDOW } from './messages.ts';
import { collectBlobs, packLoaded } from './packing.ts';
import { toWireError } from './wire-error.ts';

/** The thread's head checkpoint, loaded before the order is sent. `checkpoint` is undefined when the thread has none. */
export interface KnownHead {
  readonly checkpoint: Awaited<ReturnType<CheckpointReader['load']>>;
}

/** A pending run or graph query. */
export interface Job {
  readonly checkpoints?: CheckpointReader;
  readonly link?: RunLink;
  /** Absent for queries. */
  readonly runId?: string;
  begun: boolean;
  /** The run has saved a checkpoint in this worker. */
  saved: boolean;
  /** Own time of the worker at the request to stop, in milliseconds. */
  stopAt?: number;
  receive(message: Message): void;
  /** Settles the job when its worker has ended. `how` is undefined for a run that had not begun, and for queries. */
  lose(how: RunEnd | LostAttempt | undefined, message: string): void;
}

export interface RunJobOptions {
  /** Pending jobs of the worker, by stream number. */
  readonly jobs: Map<number, Job>;
  readonly stream: number;
  readonly send: Connection['send'];
  /** Own time of the worker, in milliseconds. */
  readonly ownMs: () => number;
  readonly order: RunOrder;
  readonly link: RunLink;
  readonly signal: AbortSignal;
  readonly known: KnownHead | undefined;
  /** True: the run starts at once, without `begin` and `go`. */
  readonly go: boolean;
}

/** Resolves with undefined when the run was given back before it began. */
export function openRunJob(options: RunJobOptions): Promise<RunEnd | LostAttempt | undefined> {
  const { jobs, stream, send, ownMs, link, signal, go } = options;
  let processed = { bytes: 0, messages: 0 };
  let resolve: (how: RunEnd | LostAttempt | undefined) => void = () => undefined;
  const ended = new Promise<RunEnd | LostAttempt | undefined>((fn) => (resolve = fn));

  function settle(how: RunEnd | LostAttempt | undefined): void {
    jobs.delete(stream);
    signal.removeEventListener('abort', onAbort);
    resolve(how);
  }

  function onAbort(): void {
    job.stopAt = ownMs();
    if (job.begun) return send(TYPE.cancel, stream, { reason: signal.reason as StopReason });
    send(TYPE.go, stream, { ok: false });
    settle({ kind: 'stopped' });
  }

  async function begin(): Promise<void> {
    try {
      await link.begun();
    } catch {
      // The lease is stale; the executor aborts the attempt's signal as well.
      send(TYPE.go, stream, { ok: false });
      return settle({ kind: 'stopped' });
    }
    job.begun = jobs.get(stream) === job;
    send(TYPE.go, stream, { ok: job.begun });
  }

  /** Returns credit in one message once half of the window is processed. A refused write ends the run. */
  function take(blobs: readonly string[], taken: Promise<void>): void {
    const giveCredit = (): void => {
      const bytes = blobs.reduce((sum, { length }) => sum + length, processed.bytes);
      processed = { bytes, messages: processed.messages + 1 };
      if (bytes < WINDOW.bytes / 2 && processed.messages < WINDOW.messages / 2) return;
      send(TYPE.credit, stream, processed);
      processed = { bytes: 0, messages: 0 };
    };
    taken.then(giveCredit, (error: unknown) => send(TYPE.refused, stream, { error: toWireError(error) }));
  }

  function end({ wrote = [], ...how }: any, blobs: readonly string[]): void {
    let at = 0;
    for (const { type, head, blobs: count } of wrote)
      job.receive({ stream, type, head, blobs: blobs.slice(at, (at += count)) });
    settle(at === blobs.length ? how : { ...how, untracked: blobs[at] });
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
          return end(head, blobs);
      }
    },
  };
  jobs.set(stream, job);
  signal.addEventListener('abort', onAbort, { once: true });
  sendOrder(options);
  if (go) void link.begun();
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
