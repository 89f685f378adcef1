import { contains } from '../../src/kernel/containment.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { flatten } from '../../src/kernel/tagged.ts';
import type {
  ChannelBlob,
  CheckpointStore,
  LoadedCheckpoint,
  NewCheckpoint,
  PendingWrite,
} from '../../src/graphs/port.ts';
import { compareWrites } from '../../src/graphs/write-order.ts';

export interface MemoryCheckpoints extends CheckpointStore {
  /** Everything saved, oldest first. */
  readonly saved: readonly NewCheckpoint[];
  readonly writes: readonly (PendingWrite & { checkpointId: string })[];
  /** The values of a root checkpoint, read as the server reads them: picked from the blobs and flattened. */
  values(checkpointId?: string): JsonObject | undefined;
  /** All text that was stored: to look for what must not be in it. */
  text(): string;
  /** Told of every save before it happens; what it throws or rejects with is the store's refusal. */
  beforeSave: (checkpoint: NewCheckpoint) => void | Promise<void>;
  beforeWrites: (writes: readonly PendingWrite[]) => void | Promise<void>;
}

/** The checkpoints of one thread, kept by the same rules as the server's store keeps them. */
export function createMemoryCheckpoints(): MemoryCheckpoints {
  const saved: NewCheckpoint[] = [];
  const blobs = new Map<string, ChannelBlob>();
  const writes = new Map<string, PendingWrite & { ns: string; checkpointId: string }>();
  const key = (...parts: (string | number)[]): string => JSON.stringify(parts);
  const blobsOf = (checkpoint: NewCheckpoint): ChannelBlob[] =>
    Object.entries(checkpoint.channelVersions).flatMap(
      ([channel, version]) => blobs.get(key(checkpoint.ns, channel, version)) ?? [],
    );
  const toLoaded = (checkpoint: NewCheckpoint): LoadedCheckpoint => ({
    ns: checkpoint.ns,
    checkpointId: checkpoint.checkpointId,
    parentId: checkpoint.parentId,
    body: checkpoint.body,
    metadata: structuredClone(checkpoint.metadata),
    blobs: blobsOf(checkpoint),
    valueChannels: checkpoint.valueChannels,
    writes: [...writes.values()]
      .filter((write) => write.ns === checkpoint.ns && write.checkpointId === checkpoint.checkpointId)
      .sort(compareWrites)
      .map(({ ns: _, checkpointId: __, ...write }) => write),
    at: Date.UTC(2026, 0, 1) + saved.indexOf(checkpoint),
  });
  const newestFirst = (): NewCheckpoint[] =>
    [...saved].sort((a, b) => (a.checkpointId < b.checkpointId ? 1 : -1));
  const find = (ns: string, id?: string): NewCheckpoint | undefined =>
    newestFirst().find((each) => each.ns === ns && (id === undefined || each.checkpointId === id));

  const store: MemoryCheckpoints = {
    saved,
    get writes() {
      return [...writes.values()];
    },
    beforeSave: () => undefined,
    beforeWrites: () => undefined,
    async load(ns, checkpointId) {
      const found = find(ns, checkpointId);
      return found && toLoaded(found);
    },
    async list({ ns, before, limit, metadata }) {
      return newestFirst()
        .filter((each) => ns === undefined || each.ns === ns)
        .filter((each) => before === undefined || each.checkpointId < before)
        .filter((each) => metadata === undefined || contains(each.metadata, metadata))
        .slice(0, limit)
        .map(toLoaded);
    },
    async save(checkpoint) {
      await store.beforeSave(checkpoint);
      const at = saved.findIndex(
        (each) => each.ns === checkpoint.ns && each.checkpointId === checkpoint.checkpointId,
      );
      if (at === -1) saved.push(structuredClone(checkpoint));
      else saved[at] = { ...structuredClone(checkpoint), parentId: saved[at]!.parentId };
      for (const blob of checkpoint.blobs) {
        const place = key(checkpoint.ns, blob.channel, blob.version);
        if (!blobs.has(place)) blobs.set(place, { ...blob });
      }
    },
    async saveWrites(ns, checkpointId, added) {
      await store.beforeWrites(added);
      for (const write of added)
        writes.set(key(ns, checkpointId, write.taskId, write.idx), { ...write, ns, checkpointId });
    },
    values(checkpointId) {
      const found = find('', checkpointId);
      if (found === undefined) return undefined;
      const picked = blobsOf(found).filter(({ channel }) => found.valueChannels.includes(channel));
      return Object.fromEntries(
        picked.map(({ channel, data }) => [channel, flatten(JSON.parse(data) as Json)]),
      );
    },
    text: () => JSON.stringify([saved, [...blobs.values()], [...writes.values()]]),
  };
  return store;
}
