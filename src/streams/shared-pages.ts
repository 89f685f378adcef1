/**
 * S3 Caches large pages of a run's frames weakly, so readers at the same position share one copy of the page.
 *
 * S2 Frames are immutable and only appended, so a cached page equals a fresh read or a prefix of it. L3 The runs of a
 * deleted thread may be imported again with other frames under the same ids.
 */
import { createWeakValues, WORTH_HOLDING, type WeakValues } from '../kernel/weak-values.ts';
import type { EventLog } from '../store/port/log.ts';
import type { PayloadReader, StoredFrame } from '../store/port/payloads.ts';

/** True for pages whose derived objects are worth sharing between readers. */
export const isLargePage = (page: readonly StoredFrame[]): boolean =>
  page.reduce((size, { data }) => size + data.length, 0) > WORTH_HOLDING;

/** Wraps the log so that `payloads.frames` shares large pages. Call `forget` after a thread was deleted. */
export function shareLargePages(log: EventLog): { readonly log: EventLog; forget(): void } {
  const held = createWeakValues<StoredFrame[]>();
  const frames = sharePages(log.payloads.frames, held);
  return { log: { ...log, payloads: { ...log.payloads, frames } }, forget: held.clear };
}

function sharePages(read: PayloadReader['frames'], held: WeakValues<StoredFrame[]>): PayloadReader['frames'] {
  /** Pending reads by key. Readers wake together, so they issue the same read before the first one resolves. */
  const pending = new Map<string, Promise<StoredFrame[]>>();

  async function readNow(key: string, runId: string, after: number, limit: number): Promise<StoredFrame[]> {
    const page = await read(runId, after, limit);
    if (isLargePage(page)) held.set(key, page);
    return page;
  }

  return async (runId, after, limit) => {
    const key = `${runId} ${after} ${limit}`;
    const known = held.get(key) ?? pending.get(key);
    if (known !== undefined) {
      const page = await known;
      // A read that began earlier may miss the frames that this caller was woken for, so an empty page is read again.
      if (page.length > 0) return page;
    }
    const answer = readNow(key, runId, after, limit);
    pending.set(key, answer);
    try {
      return await answer;
    } finally {
      if (pending.get(key) === answer) pending.delete(key);
    }
  };
}
