/**
 * S3 Large pages of a run's frames, held once for all who read them: a thousand readers that fell behind at one large
 * frame hold that frame, and not a thousand of it. As long as one of them has the page, the others are given it.
 *
 * S2 The frames after an id never change, so what was read before is what would be read now, or the beginning of it.
 */
import { createWeakValues, WORTH_HOLDING } from '../kernel/weak-values.ts';
import type { EventLog } from '../log/log.ts';
import type { PayloadReader, StoredFrame } from '../log/payloads.ts';

/** What is made of such a page is better made once for all who were given it. */
export const isLargePage = (page: readonly StoredFrame[]): boolean =>
  page.reduce((size, { data }) => size + data.length, 0) > WORTH_HOLDING;

/** The log for those who read frames. */
export const shareLargePages = (log: EventLog): EventLog => ({
  ...log,
  payloads: { ...log.payloads, frames: sharePages(log.payloads.frames) },
});

function sharePages(read: PayloadReader['frames']): PayloadReader['frames'] {
  const held = createWeakValues<StoredFrame[]>();
  /** Readers are woken together: all of them ask before the first is answered. */
  const asked = new Map<string, Promise<StoredFrame[]>>();

  async function readNow(key: string, runId: string, after: number, limit: number): Promise<StoredFrame[]> {
    const page = await read(runId, after, limit);
    if (isLargePage(page)) held.set(key, page);
    return page;
  }

  return async (runId, after, limit) => {
    const key = `${runId} ${after} ${limit}`;
    const known = held.get(key) ?? asked.get(key);
    if (known !== undefined) {
      const page = await known;
      // What began to be read before this was asked may know less: nothing, at worst.
      if (page.length > 0) return page;
    }
    const answer = readNow(key, runId, after, limit);
    asked.set(key, answer);
    try {
      return await answer;
    } finally {
      if (asked.get(key) === answer) asked.delete(key);
    }
  };
}
