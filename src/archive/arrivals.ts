/** Threads whose import is not complete. */
import type { Threads } from '../actors/threads.ts';
import type { EventLog } from '../store/port/log.ts';
import { isLiving } from '../thread/state.ts';

/** Deletes threads whose import ended with its process. Call before anything else is imported. Returns their number. */
export async function purgeArrivals(log: EventLog, threads: Threads): Promise<number> {
  const left = await log.views.threads.arriving();
  for (const threadId of left) await abandon(threads, threadId);
  return left.length;
}

/** Deletes the thread as if it had never been. One that is complete, or another one under the id, stays. */
export async function abandon(threads: Threads, threadId: string): Promise<void> {
  await threads.dispatch(
    threadId,
    async (state) => (isLiving(state) && state.arriving ? [{ type: 'DeleteThread' }] : []),
    { isVital: true },
  );
}
