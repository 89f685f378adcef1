import type { Clock } from './clock.ts';

/** Settles as `work` does, or after `ms`; no timer is left behind. What comes of `work` later is for others to hear. */
export async function within(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (cancel = clock.after(ms, resolve)));
  await Promise.race([work, late]).finally(() => cancel());
}
