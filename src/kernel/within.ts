import type { Clock } from './clock.ts';

/** Settles as `work` does, or resolves after `ms` and clears its timer. Later results of `work` are ignored. */
export async function within(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (cancel = clock.after(ms, resolve)));
  await Promise.race([work, late]).finally(() => cancel());
}
