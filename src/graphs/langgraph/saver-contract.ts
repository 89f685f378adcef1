/** The part of LangGraph.js's checkpoint saver interface that the runtime uses. */
import type { JsonObject } from '../../kernel/json.ts';

export interface SaverConfig {
  readonly configurable?: {
    readonly thread_id?: string;
    readonly checkpoint_ns?: string;
    readonly checkpoint_id?: string;
  };
}

export interface Checkpoint {
  readonly v: number;
  readonly id: string;
  readonly channel_values: Record<string, unknown>;
  readonly channel_versions: Record<string, string | number>;
  readonly [key: string]: unknown;
}

export type Write = readonly [taskId: string, channel: string, value: unknown];

export interface CheckpointTuple {
  readonly config: SaverConfig;
  readonly checkpoint: Checkpoint;
  readonly metadata: JsonObject;
  readonly parentConfig?: SaverConfig;
  readonly pendingWrites: Write[];
}

interface ListOptions {
  readonly limit?: number;
  readonly before?: SaverConfig;
  readonly filter?: JsonObject;
}

/** A channel's value (`seed`) in the nearest ancestor that stores it, and the writes since then, oldest first. */
export type DeltaHistory = Record<string, { writes: Write[]; seed?: unknown }>;

/** The channels that a node wrote to in one execution. `place` is that of its step. */
export interface TaskWrites {
  readonly ns: string;
  readonly checkpointId: string;
  readonly node: string;
  readonly channels: readonly string[];
}

export interface Saver {
  get(config: SaverConfig): Promise<Checkpoint | undefined>;
  getTuple(config: SaverConfig): Promise<CheckpointTuple | undefined>;
  list(config: SaverConfig, options?: ListOptions): AsyncGenerator<CheckpointTuple>;
  put(
    config: SaverConfig,
    checkpoint: Checkpoint,
    metadata: Record<string, unknown>,
    newVersions: Record<string, string | number>,
  ): Promise<SaverConfig>;
  /** `taskPath` orders the tasks of a step. Runtimes that pass none order tasks by their ids. */
  putWrites(
    config: SaverConfig,
    writes: (readonly [string, unknown])[],
    taskId: string,
    taskPath?: string,
  ): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
  /** The runtime calls `bind` on it for each use (step-versions.ts). */
  getNextVersion(current: string | number | undefined): string;
  getDeltaChannelHistory(options: { config: SaverConfig; channels: string[] }): Promise<DeltaHistory>;
  toJSON(): string;
  /** Adds a resume value to the root head's pending writes on every later read. It is not saved. */
  give(taskId: string, value: unknown): void;
  /** The tasks whose writes came last, the latest at the end. */
  recentTasks(): readonly TaskWrites[];
  /** The newest root checkpoint that this attempt saved, from memory; the run's end is read from it. */
  lastTuple(): CheckpointTuple | undefined;
}
