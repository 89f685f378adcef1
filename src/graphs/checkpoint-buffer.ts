/**
 * A checkpoint store that buffers writes in memory over a durable reader. Reads see both layers, so a graph's runtime
 * can use it like any store. Nothing is durable until the caller commits `saved`.
 */
import type {
  ChannelBlob,
  CheckpointReader,
  CheckpointStore,
  LoadedCheckpoint,
  NewCheckpoint,
  PendingWrite,
} from './port.ts';
import type { Saved } from './state-port.ts';
import { compareWrites } from './write-order.ts';

export interface CheckpointBuffer extends CheckpointStore {
  readonly saved: readonly Saved[];
}

export function createCheckpointBuffer(base: CheckpointReader, now: () => number): CheckpointBuffer {
  const saved: Saved[] = [];
  const checkpoints: { checkpoint: NewCheckpoint; at: number }[] = [];
  const blobs = new Map<string, ChannelBlob>();
  const key = (ns: string, channel: string, version: string): string =>
    JSON.stringify([ns, channel, version]);
  const remember = (ns: string, known: readonly ChannelBlob[]): void => {
    for (const blob of known) {
      const blobKey = key(ns, blob.channel, blob.version);
      if (!blobs.has(blobKey)) blobs.set(blobKey, blob);
    }
  };

  /** A later write of the same task and index replaces an earlier one. */
  function writesOn(ns: string, id: string, stored: readonly PendingWrite[]): PendingWrite[] {
    const writes = new Map(stored.map((write) => [`${write.taskId} ${write.idx}`, write]));
    for (const each of saved)
      if (each.kind === 'writes' && each.ns === ns && each.checkpointId === id)
        for (const write of each.writes) writes.set(`${write.taskId} ${write.idx}`, write);
    return [...writes.values()].sort(compareWrites);
  }

  const toLoaded = ({ checkpoint, at }: (typeof checkpoints)[number]): LoadedCheckpoint => ({
    ns: checkpoint.ns,
    checkpointId: checkpoint.checkpointId,
    parentId: checkpoint.parentId,
    body: checkpoint.body,
    metadata: checkpoint.metadata,
    valueChannels: checkpoint.valueChannels,
    // A buffered checkpoint shares values only with checkpoints read before, so their blobs are in `blobs`.
    blobs: Object.entries(checkpoint.channelVersions).flatMap(
      ([channel, version]) => blobs.get(key(checkpoint.ns, channel, version)) ?? [],
    ),
    writes: writesOn(checkpoint.ns, checkpoint.checkpointId, []),
    at,
  });
  const overlaid = (loaded: LoadedCheckpoint): LoadedCheckpoint => {
    remember(loaded.ns, loaded.blobs);
    return { ...loaded, writes: writesOn(loaded.ns, loaded.checkpointId, loaded.writes) };
  };

  return {
    saved,
    async load(ns, checkpointId) {
      const own = checkpoints.findLast(
        ({ checkpoint }) =>
          checkpoint.ns === ns && (checkpointId === undefined || checkpoint.checkpointId === checkpointId),
      );
      if (own !== undefined) return toLoaded(own);
      const loaded = await base.load(ns, checkpointId);
      return loaded && overlaid(loaded);
    },
    list: async (query) => (await base.list(query)).map(overlaid),
    async save(checkpoint) {
      remember(checkpoint.ns, checkpoint.blobs);
      checkpoints.push({ checkpoint, at: now() });
      saved.push({ kind: 'checkpoint', checkpoint });
    },
    async saveWrites(ns, checkpointId, writes) {
      saved.push({ kind: 'writes', ns, checkpointId, writes });
    },
  };
}
