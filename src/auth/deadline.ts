import type { Clock } from '../kernel/clock.ts';

/**
 * Settles with the result or error of `work`, or rejects after `ms` milliseconds. Work that exceeds the deadline goes on,
 * and its late result or rejection is ignored.
 */
export function withinDeadline(clock: Clock, ms: number, work: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`an auth handler did not answer within ${ms} ms`)));
    const outcome = new Promise<unknown>((settle) => settle(work()));
    void outcome.then(resolve, reject).finally(cancel);
  });
}
