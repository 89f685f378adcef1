/**
 * The port between the server and graph code. Only plain data and async calls cross it: `workers/pool.ts` runs graphs
 * in graph workers, `in-process.ts` in this process.
 *
 * X4 The server's modules above this port never call graph code. X2 A `CheckpointStore` rejects writes under a stale
 * attempt or lease, and the error ends the attempt.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { JsonText } from '../kernel/json-text.ts';
import type { StreamMode } from '../protocol/stream-modes.ts';
import type { CallsOrder, RecordingOrder } from '../recording/order.ts';
import type { Outcome } from '../thread/events.ts';
import type { Seen } from '../thread/origin.ts';
import type { Spending, Usage } from '../thread/usage.ts';
import type { ChannelChoice, StatePart } from './state-part.ts';
import type { StorePort } from './store-port.ts';

/** The `command` of the HTTP API, unchanged. */
export interface GraphCommand {
  readonly goto?: Json;
  readonly update?: Json;
  readonly resume?: Json;
}

export interface GraphConfig {
  readonly tags?: readonly string[];
  readonly recursion_limit?: number;
  readonly configurable: JsonObject;
  /** Request headers that the run inherits into `configurable`; they reach graph code only (A4). */
  readonly inherited?: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  /** Overrides for the config that a graph factory is called with. */
  readonly madeWith?: MadeWith;
}

/** The settings that the thread's graph was made with. */
export interface MadeWith {
  readonly configurable: JsonObject;
  readonly context?: Json;
}

/** The input of one attempt at a run. */
export interface RunOrder extends Spending {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly attempt: number;
  /** True if an earlier attempt saved a root checkpoint: the attempt resumes there and ignores `input` and `command`. */
  readonly resume: boolean;
  /** `null` continues from the thread's head checkpoint. */
  readonly input: Json;
  readonly command?: GraphCommand;
  /** Refuses a `command.resume` that does not match the pending interrupts (strict-resume.ts). */
  readonly strictResume?: boolean;
  /** The interrupt ids of a strict resume that was refused at the run's creation. */
  readonly lateAnswer?: readonly string[];
  readonly config: GraphConfig;
  readonly context?: Json;
  readonly streamModes: readonly StreamMode[];
  readonly streamSubgraphs: boolean;
  readonly interruptBefore?: '*' | readonly string[];
  readonly interruptAfter?: '*' | readonly string[];
  readonly durability?: 'sync' | 'async' | 'exit';
  /** Emits frames that only protocol events show: a `checkpoints` frame before each `values` frame, transformers' output. */
  readonly protocolFrames?: boolean;
  /** The authenticated user with all custom fields; it reaches graph code only (A4). */
  readonly user?: JsonObject;
  /** Records what models, tools and the store answer, so that the run can be executed again offline. */
  readonly recording?: RecordingOrder;
  /** X7 Keeps what the run is answered for its next attempt, and serves what earlier attempts kept. */
  readonly calls?: CallsOrder;
  /** UTF-16 units that earlier attempts have noted of their prints and calls. */
  readonly noted?: number;
  /** Prints and calls are not noted: the library's callbacks draw random values, which older recordings lack. */
  readonly isUnnoted?: true;
  /** Development: the end has what the run was seen to do. */
  readonly observe?: true;
}

/** One chunk of a run's output stream; `data` is JSON text, already serialised. */
export interface Frame {
  readonly event: string;
  readonly data: string;
}

/** An interrupt as the runtime writes it. Before langgraph 0.4 it has `when`, `resumable` and `ns` instead of `id`. */
export interface Interrupt extends JsonObject {
  id?: string;
  value: Json;
}

/** The end of an attempt. `next` names the nodes still to run; it is empty when the graph has finished. */
export type RunEnd = Seen &
  (
    | {
        readonly kind: 'success';
        readonly next: readonly string[];
        readonly interrupts: Record<string, Interrupt[]>;
        /** JSON text of an object: final values of untracked channels, which no checkpoint contains. */
        readonly untracked?: string;
      }
    | Extract<Outcome, { readonly kind: 'error' }>
    /** `next` is undefined if the graph did not return before the attempt ended. */
    | { readonly kind: 'stopped'; readonly next?: readonly string[] }
  );

/**
 * An attempt that ended because its graph worker died. `charged`: no other run can be the cause (X6). A worker that
 * dies at its own memory limit ends its run with `error` instead.
 */
export interface LostAttempt {
  readonly kind: 'lost';
  readonly charged: boolean;
  readonly error: string;
  readonly message: string;
}

export interface RunLink {
  readonly checkpoints: CheckpointStore;
  readonly store: StorePort;
  /**
   * Records the attempt's start in the log. The graph host awaits it directly before graph code starts. The first attempt
   * resolves at once. Rejects if the lease is stale; graph code must not start then.
   */
  begun(): Promise<void>;
  /**
   * Resolves when the server has accepted the frames; readers see them only once they are durable. Calls are ordered.
   * Await it before producing more (back-pressure).
   */
  emit(frames: readonly Frame[]): Promise<void>;
  /** Adds a compressed part to the run's recording; resolves like `emit`. */
  record(part: Uint8Array): Promise<void>;
  /** X7 Keeps a part for the run's next attempt, until another root checkpoint than `base` is committed, or the run ends. */
  keep(part: Uint8Array, base: string | undefined, isAnswer: boolean): Promise<void>;
  /** Adds what the run printed, and its calls, to the next commit: JSON text of a list of `CallRecord`. Resolves like `emit`. */
  note(records: string): Promise<void>;
}

/** A channel value under the version the graph runtime gave it; `data` is tagged JSON text (kernel/tagged.ts). */
export interface ChannelBlob {
  readonly channel: string;
  readonly version: string;
  readonly data: string;
}

export interface PendingWrite {
  readonly taskId: string;
  /** Empty if absent. Writes are sorted by path, then task id, then `idx`. */
  readonly taskPath?: string;
  readonly idx: number;
  readonly channel: string;
  readonly data: string;
}

export interface NewCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  /** The runtime's checkpoint as tagged JSON text, without channel values. */
  readonly body: string;
  readonly metadata: JsonObject;
  /** The version of every channel in this checkpoint. Versions saved earlier refer to their existing blobs. */
  readonly channelVersions: Record<string, string>;
  /** Values of the channels that changed since the parent. */
  readonly blobs: readonly ChannelBlob[];
  /**
   * The channels that form the thread's `values`. A graph without named state has only one, `__root__` or `__end__`,
   * whose value is `values` itself.
   */
  readonly valueChannels: readonly string[];
  readonly step: number;
  readonly source: string;
  /** The number of the attempt's frames that precede the checkpoint. */
  readonly frames?: number;
  /** Usage of the run up to this step; only root checkpoints have it. */
  readonly usage?: Usage | undefined;
}

export interface LoadedCheckpoint {
  readonly ns: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly body: string;
  readonly metadata: JsonObject;
  readonly blobs: readonly ChannelBlob[];
  readonly valueChannels: readonly string[];
  readonly writes: readonly PendingWrite[];
  /** Time of saving, in milliseconds since 1970. */
  readonly at: number;
}

export interface CheckpointQuery {
  readonly ns?: string;
  /** Only checkpoints older than this id. */
  readonly before?: string;
  readonly limit?: number;
  /** Ends the list once its values have this many UTF-16 units; at least one checkpoint is returned. */
  readonly maxChars?: number;
  /** Top-level metadata entries that must be equal. */
  readonly metadata?: JsonObject;
  /** All channels if absent. */
  readonly choice?: ChannelChoice;
}

export interface CheckpointReader {
  /** Loads the checkpoint with this id, or the newest of the namespace. */
  load(ns: string, checkpointId?: string, choice?: ChannelChoice): Promise<LoadedCheckpoint | undefined>;
  /** Newest first. */
  list(query: CheckpointQuery): Promise<LoadedCheckpoint[]>;
}

/**
 * Writes resolve when the server has accepted them; with the durability `sync`, when they are durable. The run's end
 * becomes durable no sooner than its writes.
 */
export interface CheckpointStore extends CheckpointReader {
  save(checkpoint: NewCheckpoint): Promise<void>;
  /** A write replaces an earlier one of the same checkpoint, task and `idx`. It may be saved before its checkpoint. */
  saveWrites(ns: string, checkpointId: string, writes: readonly PendingWrite[]): Promise<void>;
}

/** The state that `GET /threads/{id}/state` shows, in wire form. `Values` is JSON text, or its form between processes. */
export interface GraphState<Values = JsonText> {
  readonly values: Values;
  readonly next: readonly string[];
  readonly tasks: readonly GraphTask<Values>[];
  readonly checkpoint: CheckpointRef | null;
  readonly parentCheckpoint: CheckpointRef | null;
  readonly metadata?: JsonObject;
  readonly createdAt: string | null;
  readonly interrupts: readonly Interrupt[];
}

export interface CheckpointRef {
  readonly ns: string;
  readonly id: string | null;
  /** For a subgraph: the checkpoint ids of its parent graphs and its own, by namespace. */
  readonly map?: JsonObject;
}

export interface GraphTask<Values = JsonText> {
  readonly id: string;
  readonly name: string;
  readonly path: readonly Json[];
  readonly error: string | null;
  readonly interrupts: readonly Interrupt[];
  readonly checkpoint: CheckpointRef | null;
  readonly state: GraphState<Values> | null;
  readonly result: Json;
}

export interface StateOrder {
  readonly graphId: string;
  readonly threadId: string;
  readonly ns?: string;
  readonly checkpointId?: string;
  readonly subgraphs: boolean;
  /** The part to read, all if absent. Members outside the part may have any value. */
  readonly part?: StatePart;
  /** The assistant's config. */
  readonly config: GraphConfig;
  readonly context?: Json;
  /** The caller, for graph factories (A4). */
  readonly user?: JsonObject;
}

/** Runs the loaded graphs. */
export interface GraphHost {
  readonly graphIds: readonly string[];
  /** Resolves with an `error` end when graph code fails; never rejects for it. `signal` aborts with a `StopReason`. */
  run(order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd | LostAttempt>;
  close(): Promise<void>;
}

export type StopReason = 'interrupt' | 'rollback' | 'timeout' | 'shutdown' | 'fenced';

/** Graph code threw while answering a query; the message has its error. Not retryable. */
export class GraphFailed extends Error {
  override readonly name = 'GraphFailed';
}

/** The graph did not load in a worker that was started after the server. */
export class GraphNotLoaded extends GraphFailed {}

/** Graph code did not answer a query in time, or its graph worker ended. Retryable. */
export class GraphsUnavailable extends Error {
  override readonly name = 'GraphsUnavailable';
}

/** Every graph worker that could answer is still loading the graph. */
export class GraphLoading extends GraphsUnavailable {}

/** The hint for a client that wants to run a graph which is gone. */
export const notServedText = (graphId: string, served: readonly string[]): string =>
  `Graph "${graphId}" not found: it was removed from the configuration or renamed; served are "${served.join('", "')}"`;
