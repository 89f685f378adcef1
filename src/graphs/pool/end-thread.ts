/**
 * The end of a worker's thread. X4 A thread that is told from outside may be in the middle of what Node cannot break off:
 * it ends the whole process when the thread links modules in that moment, or when a datagram or a key arrives that
 * native code has to hand over. So the thread is asked to leave by itself first, which it does between two pieces of work.
 */
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import type { LinkGate } from '../../kernel/link-gate.ts';
import { within } from '../../kernel/within.ts';

export interface EndThreadOptions {
  readonly worker: Worker;
  /** The server's end of the channel to it; closed at last. */
  readonly port: Pick<MessagePort, 'close'>;
  readonly exited: Promise<void>;
  readonly linkGate: LinkGate;
  readonly clock: Clock;
  /** Asks the thread to leave; undefined when it would not hear it, or has no time left. */
  readonly ask: (() => void) | undefined;
}

const LEAVE_MS = 100;
/** Linking takes milliseconds; the machine may have no time for it. */
const LINK_MS = 1_000;

/** Resolves when the thread is gone, or has been told to end. */
export async function endThread({
  worker,
  port,
  exited,
  linkGate,
  clock,
  ask,
}: EndThreadOptions): Promise<void> {
  // First, for it stands before the threads that this one has started as well: they end with it, however it ends.
  await linkGate.close(clock, LINK_MS);
  if (ask !== undefined) {
    ask();
    await within(clock, LEAVE_MS, exited);
  }
  port.close();
  // It may be told again and again, and Node waits for its exit each time.
  worker.setMaxListeners(0);
  void worker.terminate();
}
