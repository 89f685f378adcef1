/**
 * The boundary between the server and graph code. Everything that crosses it is plain data or an async call:
 * `workers/pool.ts` has graphs in processes of their own, `in-process.ts` in this one.
 *
 * X4 Nothing above this file ever calls graph code. X2 Whoever implements `CheckpointStore` refuses writes of an
 * executor whose attempt or lease is stale, by throwing; the graph side lets that error end the run.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { JsonText } from '../kernel/json-text.ts';
import type { ChannelChoice, StatePart } from './state-part.ts';
import type { StorePort } from './store-port.ts';

/** `messages` sends messages as they grow, `messages-tuple` their pieces; `lifecycle` when graphs within begin and end. */
export type StreamMode =
  | 'values'
  | 'updates'
  | 'messages'
  | 'messages-tuple'
  | 'custom'
  | 'events'
  | 'debug'
  | 'tasks'
  | 'checkpoints'
  | 'tools'
  | 'lifecycle';

/** `{goto, update, resume}` of the HTTP interface, unchanged. */
export interface GraphCommand {
  readonly goto?: Json;
  readonly update?: Json;
  readonly resume?: Json;
}

export interface GraphConfig {
  readonly tags?: readonly string[];
  readonly recursion_limit?: number;
  readonly configurable: JsonObject;
  /** Headers of the request that the run inherits, into `configurable`: for graph code and nothing else (A4). */
  readonly inherited?: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  /** In the place of the above, for the function that makes the graph. */
  readonly madeWith?: MadeWith;
}

/** Settings that the function of a graph was called with. */
export interface MadeWith {
  readonly configurable: JsonObject;
  readonly context?: Json;
}

/** One attempt at one run, as the graph side needs it. */
export interface RunOrder {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly attempt: number;
  /** An earlier attempt of this run saved a root checkpoint: go on from there and ignore `input` and `command`. */
  readonly resume: boolean;
  /** `null` continues from the thread's head checkpoint. */
  readonly input: Json;
  readonly command?: GraphCommand;
  /** Refuse an answer that does not fit the questions that wait (strict-resume.ts). */
  readonly strictResume?: boolean;
  readonly config: GraphConfig;
  readonly context?: Json;
  readonly streamModes: readonly StreamMode[];
  readonly streamSubgraphs: boolean;
  readonly interruptBefore?: '*' | readonly string[];
  readonly interruptAfter?: '*' | readonly string[];
  readonly durability?: 'sync' | 'async' | 'exit';
  /**
   * Frames as the readers of a thread need them: before each state of the mode `values` one `checkpoints` with
   * `{id, parent_id, step, source}` and no state.
   */
  readonly protocolFrames?: boolean;
  /** The authenticated user with all custom fields. Reaches graph code and nothing else (A4). */
  readonly user?: JsonObject;
  /** The run may have ended the server before: it gets a graph worker that has no other run (X6). */
  readonly alone?: true;
}

/** One chunk of a run's output stream; `data` is JSON text, already serialised. */
export interface Frame {
  readonly event: string;
  readonly data: string;
}

/** As the graph's runtime writes it: those before langgraph 0.4 have no `id` but `when`, `resumable` and `ns`. */
export interface Interrupt extends JsonObject {
  id?: string;
  value: Json;
}

/** Where graph code failed: the nodes from the root graph to the failing one joined by `|`, and the source-mapped stack. */
export interface FailureOrigin {
  readonly node?: string;
  readonly step?: number;
  readonly stack?: string;
}

/** Why a strict answer was refused; the other members are ids of questions. */
export interface ResumeRefusal {
  readonly reason: 'not_pending' | 'empty_map' | 'ambiguous';
  /** Named by the answer, and not waiting. */
  readonly interruptIds: readonly string[];
  readonly pendingIds: readonly string[];
}

/** How an attempt ended. `next` names the nodes still to run: empty when the graph is finished. */
export type RunEnd =
  | {
      readonly kind: 'success';
      readonly next: readonly string[];
      readonly interrupts: Record<string, Interrupt[]>;
      /** JSON text of an object: the values that the run showed at its end and that no checkpoint holds. */
      readonly untracked?: string;
    }
  | {
      readonly kind: 'error';
      readonly error: string;
      readonly message: string;
      readonly origin?: FailureOrigin;
      /** Graph code was not called. */
      readonly refusal?: ResumeRefusal;
    }
  /** `next`: nodes still to run, undefined when the graph did not get to say. */
  | { readonly kind: 'stopped'; readonly next?: readonly string[] };

/**
 * An attempt that ended with its graph worker. `charged`: no other run can have ended the worker (X6). A worker that
 * ended at a limit of its own ends its run with an `error` instead.
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
   * The graph host awaits it directly before graph code of this attempt starts. Resolves when the log says that the
   * attempt has begun: at once for the first one. Rejects when the lease is gone; graph code must not start then.
   */
  begun(): Promise<void>;
  /**
   * Resolves when the server has taken the frames: no reader sees them before they are durable. Call it in order; await
   * it before producing more (back-pressure).
   */
  emit(frames: readonly Frame[]): Promise<void>;
}

/** A channel value under the version the graph runtime gave it; `data` is tagged JSON text (kernel/tagged.ts). */
export interface ChannelBlob {
  readonly channel: string;
  readonly version: string;
  readonly data: string;
}

export interface PendingWrite {
  readonly taskId: string;
  /** Empty if absent. Writes are read in the order of their paths, then of their tasks and indices. */
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
  /** Every channel of this checkpoint with the version it has here; the blobs of versions saved before are reused. */
  readonly channelVersions: Record<string, string>;
  /** Only the channels that changed since the parent. */
  readonly blobs: readonly ChannelBlob[];
  /**
   * The channels that make up the thread's `values`. A graph without named state has just one, `__root__` or
   * `__end__`, whose value is `values` itself.
   */
  readonly valueChannels: readonly string[];
  readonly step: number;
  readonly source: string;
  /** How many frames of the attempt belong before it. */
  readonly frames?: number;
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
  /** When it was saved, milliseconds since 1970. */
  readonly at: number;
}

export interface CheckpointQuery {
  readonly ns?: string;
  /** Only checkpoints older than this id. */
  readonly before?: string;
  readonly limit?: number;
  /** In characters of values: a list that has so much ends, whatever is left. It has one at least. */
  readonly most?: number;
  /** Equality on top-level metadata keys. */
  readonly metadata?: JsonObject;
  /** All channels if absent. */
  readonly choice?: ChannelChoice;
}

export interface CheckpointReader {
  /** The checkpoint with this id, or the newest of the namespace. */
  load(ns: string, checkpointId?: string, choice?: ChannelChoice): Promise<LoadedCheckpoint | undefined>;
  /** Newest first. */
  list(query: CheckpointQuery): Promise<LoadedCheckpoint[]>;
}

/**
 * Writes resolve when the server has taken them, with the durability `sync` when they are durable. The run's end is
 * durable no sooner than all of them.
 */
export interface CheckpointStore extends CheckpointReader {
  save(checkpoint: NewCheckpoint): Promise<void>;
  /** A write replaces an earlier one of the same checkpoint, task and `idx`. The checkpoint may arrive later. */
  saveWrites(ns: string, checkpointId: string, writes: readonly PendingWrite[]): Promise<void>;
}

/** What `GET /threads/{id}/state` needs of a graph; all values flattened to wire form. */
/** `Values`: the form that they have; JSON as text, but on its way between threads. */
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
  /** Of a graph within: the checkpoints of the graphs around it and its own, by namespace. */
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
  /** All of the state if absent. Members that are not in it may have any value. */
  readonly part?: StatePart;
  /** The assistant's. */
  readonly config: GraphConfig;
  readonly context?: Json;
}

/** Owns the loaded graphs. */
export interface GraphHost {
  readonly graphIds: readonly string[];
  /** Never rejects for a fault of graph code; `signal` aborts with a `StopReason` as its reason. */
  run(order: RunOrder, link: RunLink, signal: AbortSignal): Promise<RunEnd | LostAttempt>;
  close(): Promise<void>;
}

export type StopReason = 'interrupt' | 'rollback' | 'timeout' | 'shutdown' | 'fenced';

/** Graph code threw when it was asked for something; the message says what. Asking again will not help. */
export class GraphFailed extends Error {
  override readonly name = 'GraphFailed';
}

/** Graph code did not answer in time, or the thread that it was asked in ended. Asking again may help. */
export class GraphsUnavailable extends Error {
  override readonly name = 'GraphsUnavailable';
}
