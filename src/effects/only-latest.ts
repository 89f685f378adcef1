/**
 * Of the checkpoints that are about to be committed together only the newest of each namespace, with the values that it
 * refers to. For threads that nobody can look back into: whoever resumes needs the newest alone.
 */
import type { ChannelText, PayloadWrite } from '../log/payloads.ts';

/** The runtime's mark of a graph that reads back what it wrote to the checkpoints before. */
const LOOKS_BACK = 'counters_since_delta_snapshot';

/** In the given order. What is committed already stays. */
export function onlyLatest<W extends { readonly payload: PayloadWrite }>(writes: readonly W[]): W[] {
  const newest = new Map<string, string>();
  for (const { payload } of writes) {
    if (payload.kind !== 'checkpoint') continue;
    const { ns, checkpointId, metadata } = payload.checkpoint;
    if (Object.hasOwn(metadata, LOOKS_BACK)) return [...writes];
    newest.set(ns, checkpointId);
  }
  const outdated = new Set<string>();
  const values = new Map<string, ChannelText>();
  const kept: W[] = [];
  for (const write of writes) {
    const { payload } = write;
    if (payload.kind === 'checkpoint') {
      const { ns, checkpointId, channelVersions, blobs } = payload.checkpoint;
      for (const blob of blobs) values.set(placeOf(ns, blob.channel), blob);
      if (newest.get(ns) !== checkpointId) {
        outdated.add(placeOf(ns, checkpointId));
        continue;
      }
      const needed = Object.entries(channelVersions).flatMap(([channel, version]) => {
        const value = values.get(placeOf(ns, channel));
        return value?.version === version ? [value] : [];
      });
      kept.push({ ...write, payload: { ...payload, checkpoint: { ...payload.checkpoint, blobs: needed } } });
    } else kept.push(write);
  }
  return kept.filter(
    ({ payload }) =>
      payload.kind !== 'checkpoint-writes' || !outdated.has(placeOf(payload.ns, payload.checkpointId)),
  );
}

const placeOf = (ns: string, name: string): string => JSON.stringify([ns, name]);
