import type { Clock } from '../kernel/clock.ts';

/** Readers poll the log at this interval, so a lost wake-up only delays them. */
export const POLL_MS = 10_000;

export interface Waited {
  readonly woken: Promise<void>;
  cancel?(): void;
}

/** Settles at the wake-up, after `POLL_MS`, or on abort. */
export async function pause(next: Waited, clock: Clock, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const cancelPoll = clock.after(POLL_MS, stop);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await Promise.race([next.woken, stopped]);
  signal.removeEventListener('abort', stop);
  cancelPoll();
  next.cancel?.();
}
