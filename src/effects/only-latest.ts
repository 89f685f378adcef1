/**
 * Drops all but the newest checkpoint of each namespace from one commit, keeping the values that it refers to. For
 * threads of stateless runs: a resume needs only the newest checkpoint, and clients cannot read the history.
 */
import type { ChannelText, PayloadWrite } from '../store/port/payloads.ts';

/** Metadata key of LangGraph for graphs that read earlier checkpoints: their checkpoints must all be kept. */
const NEEDS_HISTORY_KEY = 'counters_since_delta_snapshot';

/**
 * Returns the remaining writes in the given order. Checkpoints of earlier commits are not affected. `isOver`: the run ends with
 * this commit. Until then a checkpoint is kept that the newest one names: a plain function is called with it again.
 */
export function onlyLatest<W extends { readonly payload: PayloadWrite }>(
  writes: readonly W[],
  isOver: boolean,
): W[] {
  const newest = new Map<string, { readonly id: string; readonly body: string }>();
  for (const { payload } of writes) {
    if (payload.kind !== 'checkpoint') continue;
    const { ns, checkpointId: id, body, metadata } = payload.checkpoint;
    if (Object.hasOwn(metadata, NEEDS_HISTORY_KEY)) return [...writes];
    newest.set(ns, { id, body });
  }
  const outdated = new Set<string>();
  const values = new Map<string, ChannelText>();
  const kept: W[] = [];
  for (const write of writes) {
    const { payload } = write;
    if (payload.kind === 'checkpoint') {
      const { ns, checkpointId, channelVersions, blobs } = payload.checkpoint;
      for (const blob of blobs) values.set(keyOf(ns, blob.channel), blob);
      const { id, body } = newest.get(ns)!;
      if (id !== checkpointId && (isOver || !body.includes(checkpointId))) {
        outdated.add(keyOf(ns, checkpointId));
        continue;
      }
      const needed = Object.entries(channelVersions).flatMap(([channel, version]) => {
        const value = values.get(keyOf(ns, channel));
        if (value?.version !== version) return [];
        // A value is stored once, with the first checkpoint that is kept.
        values.delete(keyOf(ns, channel));
        return [value];
      });
      kept.push({ ...write, payload: { ...payload, checkpoint: { ...payload.checkpoint, blobs: needed } } });
    } else kept.push(write);
  }
  return kept.filter(
    ({ payload }) =>
      payload.kind !== 'checkpoint-writes' || !outdated.has(keyOf(payload.ns, payload.checkpointId)),
  );
}

const keyOf = (ns: string, name: string): string => JSON.stringify([ns, name]);
