import type { Clock } from '../kernel/clock.ts';

/** Readers poll the log at this interval, so a lost wake-up only delays them. */
export const POLL_MS = 10_000;

export interface Waited<T = unknown> {
  readonly woken: Promise<T>;
  cancel?(): void;
}

/** Settles at the wake-up, with what it tells, after `POLL_MS`, or on abort. */
export async function pause<T>(next: Waited<T>, clock: Clock, signal: AbortSignal): Promise<T | undefined> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
  const cancelPoll = clock.after(POLL_MS, stop);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const told = await Promise.race([next.woken, stopped]);
  signal.removeEventListener('abort', stop);
  cancelPoll();
  next.cancel?.();
  return told;
}
