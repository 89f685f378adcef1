/** Keeps the newest root checkpoint that an attempt saved in memory; the run's end is read from it. */
import type { JsonObject } from '../../kernel/json.ts';
import type { PendingWrite } from '../port.ts';
import { compareWrites } from '../write-order.ts';
import type { Checkpoint, CheckpointTuple, SaverConfig, Write } from './saver-contract.ts';

interface Saved {
  readonly config: SaverConfig;
  readonly checkpoint: Checkpoint;
  readonly metadata: JsonObject;
  readonly parentId: string | null;
}

type PlacedWrite = Omit<PendingWrite, 'data'> & { readonly value: unknown };

export interface LastCheckpoint {
  readonly id: string | undefined;
  saved(checkpoint: Saved): void;
  wrote(checkpointId: string, writes: readonly PlacedWrite[]): void;
  /** `locate` makes the config of a checkpoint id in the thread of a given config. */
  tuple(locate: (config: SaverConfig, id: string) => SaverConfig): CheckpointTuple | undefined;
}

export function openLastCheckpoint(): LastCheckpoint {
  let last: Saved | undefined;
  /** Writes by checkpoint id, then by task and index. */
  const recent = new Map<string, Map<string, PlacedWrite>>();
  return {
    get id() {
      return last?.checkpoint.id;
    },
    saved(checkpoint) {
      last = checkpoint;
      // The runtime saves in the background, so writes of a later checkpoint may arrive first and are kept.
      for (const id of recent.keys()) if (id < checkpoint.checkpoint.id) recent.delete(id);
    },
    wrote(checkpointId, writes) {
      const known = recent.get(checkpointId) ?? new Map<string, PlacedWrite>();
      recent.set(checkpointId, known);
      for (const write of writes) known.set(`${write.taskId} ${write.idx}`, write);
    },
    tuple(locate) {
      if (last === undefined) return undefined;
      const { config, checkpoint, metadata, parentId } = last;
      return {
        config: locate(config, checkpoint.id),
        checkpoint,
        metadata,
        ...(parentId === null ? {} : { parentConfig: locate(config, parentId) }),
        pendingWrites: [...(recent.get(checkpoint.id)?.values() ?? [])]
          .sort(compareWrites)
          .map(({ taskId, channel, value }): Write => [taskId, channel, value]),
      };
    },
  };
}
