/**
 * The run link of a re-executed run. R1 Everything that the run saves stays in memory: it reads the thread as it was
 * before the run, and what it saved itself.
 */
import type { LoadedCheckpoint, NewCheckpoint, PendingWrite, RunLink } from '../../graphs/port.ts';
import type { StoreAnswer } from '../../graphs/store-port.ts';
import type { Player } from '../../recording/player.ts';
import { compareText } from '../compare/trace-steps.ts';
import type { RunTrace, RunWrite } from '../trace.ts';
import type { RunData } from './run-data.ts';

export interface ScratchLink {
  readonly link: RunLink;
  /** Returns what the run has saved so far. */
  trace(): Pick<RunTrace, 'checkpoints' | 'writes' | 'frames'>;
}

export interface ScratchOptions {
  readonly data: RunData;
  readonly player: Player;
  readonly now: () => number;
  /** The run starts from a checkpoint of its own, which its recording does not tell. */
  readonly isMoved: boolean;
}

export function openScratchLink({ data, player, now, isMoved }: ScratchOptions): ScratchLink {
  const saved: (NewCheckpoint & { readonly at: number })[] = [];
  /** Only the last write of each checkpoint, task and index, as the log keeps them. */
  const writes = new Map<string, RunWrite>();
  const frames: { event: string; data: string }[] = [];
  /** Values of channels by namespace, channel and version. */
  const values = new Map<string, string>();
  const keyOf = (ns: string, channel: string, version: string): string =>
    JSON.stringify([ns, channel, version]);

  function remember(ns: string, blobs: LoadedCheckpoint['blobs']): void {
    for (const { channel, version, data: text } of blobs) values.set(keyOf(ns, channel, version), text);
  }

  const blobsOf = ({ ns, channelVersions }: NewCheckpoint): LoadedCheckpoint['blobs'] =>
    Object.entries(channelVersions).flatMap(([channel, version]) => {
      const text = values.get(keyOf(ns, channel, version));
      return text === undefined ? [] : [{ channel, version, data: text }];
    });

  /** Later writes of a task and index replace earlier ones; the order is that of the log. */
  const writesOn = (ns: string, checkpointId: string, first: readonly PendingWrite[]): PendingWrite[] => {
    const byKey = new Map<string, PendingWrite>();
    const own = [...writes.values()].filter((each) => each.ns === ns && each.checkpointId === checkpointId);
    for (const write of [...first, ...own]) byKey.set(`${write.idx} ${write.taskId}`, write);
    return [...byKey.values()].sort(byPlace);
  };

  async function loadEarlier(ns: string, asked: string | undefined): Promise<LoadedCheckpoint | undefined> {
    const noted = isMoved ? undefined : player.loaded(ns, asked);
    if (noted?.checkpointId === null) return undefined;
    const id = noted?.checkpointId ?? asked ?? (ns === '' ? data.base : undefined);
    if (id === null) return undefined;
    const stored = await data.before(ns, id);
    if (stored === undefined) return undefined;
    remember(ns, stored.blobs);
    // A recording has the writes as they were; without one, those of this run and of later ones are left out.
    const before = (noted?.writes as PendingWrite[] | undefined) ?? (await data.writesBefore(stored));
    return { ...stored, writes: writesOn(ns, stored.checkpointId, before) };
  }

  const link: RunLink = {
    checkpoints: {
      async load(ns, checkpointId) {
        const own = saved.findLast(
          (each) => each.ns === ns && (checkpointId === undefined || each.checkpointId === checkpointId),
        );
        if (own === undefined) return loadEarlier(ns, checkpointId);
        return { ...own, blobs: blobsOf(own), writes: writesOn(ns, own.checkpointId, []) };
      },
      async list(query) {
        const { ns, before, limit = Infinity } = query;
        const own = saved
          .filter((each) => ns === undefined || each.ns === ns)
          .map((each) => ({
            ...each,
            blobs: blobsOf(each),
            writes: writesOn(each.ns, each.checkpointId, []),
          }))
          .reverse();
        const all = [...own, ...(await data.listBefore(query))];
        const from = before === undefined ? 0 : all.findIndex(({ checkpointId }) => checkpointId < before);
        return from < 0 ? [] : all.slice(from, from + limit);
      },
      async save(checkpoint) {
        remember(checkpoint.ns, checkpoint.blobs);
        saved.push({ ...checkpoint, at: now() });
      },
      async saveWrites(ns, checkpointId, given) {
        for (const write of given) {
          const key = JSON.stringify([ns, checkpointId, write.idx, write.taskId]);
          writes.delete(key);
          writes.set(key, { ns, checkpointId, ...write });
        }
      },
    },
    store: {
      async batch(requests) {
        return (await player.stored(requests)) as unknown as StoreAnswer[];
      },
    },
    begun: async () => undefined,
    async emit(given) {
      frames.push(...given);
    },
    keep: async () => undefined,
    record: async () => undefined,
    note: async () => undefined,
  };

  return {
    link,
    trace: () => ({
      checkpoints: saved.map((each) => ({
        ...{ ns: each.ns, checkpointId: each.checkpointId, parentId: each.parentId },
        ...(each.frames !== undefined && { framesBefore: each.frames }),
        metadata: each.metadata,
        channels: new Map(blobsOf(each).map(({ channel, data: text }) => [channel, text])),
        changed: new Set(each.blobs.map(({ channel }) => channel)),
      })),
      writes: [...writes.values()],
      frames,
    }),
  };
}

const byPlace = (a: PendingWrite, b: PendingWrite): number =>
  compareText(a.taskPath ?? '', b.taskPath ?? '') || compareText(a.taskId, b.taskId) || a.idx - b.idx;
