/** What a commit tells. */
import type { Batch, Notice, Receipt } from './log.ts';
import type { StoredFrame } from './payloads.ts';

/** Of the batches of one commit, in their order. */
export function noticeOf(
  committed: readonly { readonly batch: Batch; readonly receipt: Receipt }[],
  count: number,
): Notice {
  const frames = new Map<string, StoredFrame[]>();
  const untracked = new Map<string, string>();
  let dueAt = Infinity;
  const told = committed.filter(({ batch }) => !batch.isPast);
  for (const { batch, receipt } of told)
    for (const write of batch.payloads ?? []) {
      if (write.kind === 'untracked-values') untracked.set(write.runId, write.data);
      // A run that may start at once has 0 or 1.
      if (write.kind === 'queue' && (write.next ?? 0) > 1) dueAt = Math.min(dueAt, write.next!);
      if (write.kind !== 'frames') continue;
      const of = frames.get(write.runId) ?? [];
      frames.set(write.runId, of);
      write.frames.forEach(({ event, data }, index) =>
        of.push({ id: write.first + index, event, data, at: receipt.at }),
      );
    }
  const events = told.flatMap(({ receipt }) => receipt.events);
  return { count, events, frames, untracked, ...(dueAt < Infinity && { dueAt }) };
}
