import type { Clock } from '../kernel/clock.ts';

/**
 * The outcome of `work` (what it returns, resolves to, or throws), or an error once `ms` have passed. Work that hangs
 * is abandoned, not stopped: its late outcome is ignored, a late rejection included.
 */
export function withinDeadline(clock: Clock, ms: number, work: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`an auth handler did not answer within ${ms} ms`)));
    const outcome = new Promise<unknown>((settle) => settle(work()));
    void outcome.then(resolve, reject).finally(cancel);
  });
}
