/**
 * The end of a worker's thread. X4 Node ends the whole process when a thread is terminated while native code of it has
 * a result to hand over, such as a datagram or a key. So the thread is asked to leave by itself first, which it does
 * between two pieces of work.
 */
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Clock } from '../../kernel/clock.ts';
import { within } from '../../kernel/within.ts';

export interface EndThreadOptions {
  readonly worker: Pick<Worker, 'terminate' | 'setMaxListeners'>;
  /** The server's end of the channel to the thread; closed at last. */
  readonly port: Pick<MessagePort, 'close'>;
  readonly exited: Promise<void>;
  readonly clock: Clock;
  /** Asks the thread to leave; undefined when it would not hear that, or has no time left. */
  readonly ask: (() => void) | undefined;
}

const LEAVE_MS = 100;
/** A thread that answers the debugger in the moment of its termination misses it, and is terminated again. */
const AGAIN_MS = 500;

/** Resolves when the thread is gone, or was terminated for the first time. */
export async function endThread({ worker, port, exited, clock, ask }: EndThreadOptions): Promise<void> {
  if (ask !== undefined) {
    ask();
    await within(clock, LEAVE_MS, exited);
  }
  port.close();
  // Each call of `terminate` listens for the exit until it comes.
  worker.setMaxListeners(0);
  let cancel: () => void = () => undefined;
  const terminate = (): void => {
    void worker.terminate();
    cancel = clock.after(AGAIN_MS, terminate);
  };
  terminate();
  void exited.then(() => cancel());
}
