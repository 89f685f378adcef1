/**
 * The events of a thread. Names and members are the storage format: a stored event is never edited, and `upcast.ts`
 * reads old shapes. An event carries what its rows need, but not time, position or version, which the log adds.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { ImportOrigin } from './import-origin.ts';
import type { Observed, Origin, RepeatedCalls } from './origin.ts';
import type { Usage } from './usage.ts';

export type MultitaskStrategy = 'reject' | 'enqueue' | 'interrupt' | 'rollback';
export type CancelAction = 'interrupt' | 'rollback';

/** A client's request for a run: all that an executor needs, except the user's secrets. */
export interface RunKwargs {
  readonly input: Json;
  readonly command?: JsonObject;
  readonly config: JsonObject;
  readonly context?: Json;
  readonly streamMode: readonly string[];
  readonly streamSubgraphs: boolean;
  readonly interruptBefore?: Json;
  readonly interruptAfter?: Json;
  readonly durability?: string;
  /** Stored as requested; the server does not act on `checkpointDuring` or `resumable`. */
  readonly checkpointDuring?: boolean;
  readonly resumable?: boolean;
  readonly feedbackKeys?: readonly string[];
  readonly webhook?: string;
  readonly onCompletion?: 'delete' | 'keep';
  /** Every cancel of the run keeps its messages. */
  readonly onCancel?: 'keep_messages';
  /** When a resume has no settings of its own: the settings of the interrupted run, for a graph factory. */
  readonly madeWith?: { readonly configurable: JsonObject; readonly context?: Json };
  /** A resume value that matches no pending interrupt ends the run before graph code is called. */
  readonly strictResume?: boolean;
  /** The ids that a strict answer names which had no interrupt to answer at its creation; its run is refused. */
  readonly lateAnswer?: readonly string[];
  /** Created by a protocol v2 command: the run's stream also reports every checkpoint. */
  readonly protocol?: 'v2';
}

/** Saved state after a run: nodes still to run, and interrupts by task id. */
interface Pause {
  readonly next: readonly string[];
  readonly interrupts: JsonObject;
}

/** Why a strict resume was refused, with interrupt ids. The run executed nothing. */
export interface ResumeRefusal {
  readonly reason: 'not_pending' | 'empty_map' | 'ambiguous';
  /** Ids that the resume names and that are not pending. */
  readonly interruptIds: readonly string[];
  readonly pendingIds: readonly string[];
}

export type Outcome =
  | ({ readonly kind: 'success' } & Pause)
  | {
      readonly kind: 'error';
      readonly error: string;
      readonly message: string;
      readonly origin?: Origin;
      readonly refusal?: ResumeRefusal;
    }
  | { readonly kind: 'timeout'; readonly message: string }
  /** `next`: nodes still to run; undefined when the graph did not report them. */
  | ({ readonly kind: 'cancelled'; readonly next?: readonly string[] } & Stop)
  | ({ readonly kind: 'rolled-back' } & Stop);

/** Reason for stopping a run. */
export interface Stop {
  readonly reason: string;
  /** The run's `cancel_reason` where it differs from `reason`: the first of several cancel requests sets it. */
  readonly cancelReason?: string;
}

export type Keep = 'messages';

export interface RunRef {
  readonly runId: string;
  readonly threadId: string;
}

/** A checkpoint and its position in the history of its namespace. */
export interface SavedCheckpoint {
  readonly checkpointId: string;
  readonly parentId: string | null;
  readonly ns: string;
  readonly step: number;
  readonly source: string;
}

/** Time to live: `strategy` applies `minutes` after the timer was set, unless the thread is busy then. */
export interface Ttl {
  readonly strategy: 'delete' | 'keep-latest';
  /** Positive, fractions allowed. */
  readonly minutes: number;
}

export interface CheckpointKey {
  readonly ns: string;
  readonly checkpointId: string;
}

/** The graph that produced the thread's state. */
interface GraphBinding {
  readonly graphId: string;
  readonly assistantId: string;
}

/** `at`: milliseconds since 1970. Runs that started later override the binding. */
export interface Bound extends GraphBinding {
  readonly at: number;
}

/** State that a thread shows after one of its runs is deleted: its graph, status, interrupts and error. */
export interface Standing {
  readonly bound: Bound | null;
  readonly status: 'idle' | 'interrupted' | 'error';
  readonly interrupts: JsonObject;
  readonly error: Json;
}

/** Events that write the row of a thread. `carrier`: the run whose row carries a temporary thread (carrier.ts). */
interface Carried {
  carrier?: string;
}

export interface ThreadEventMap {
  /** `temporary`: the thread of a stateless run, visible to clients only through that run. */
  ThreadCreated: {
    threadId: string;
    metadata: JsonObject;
    temporary: boolean;
    ttl?: Ttl;
  };
  /** A new thread with another thread's current checkpoints; both have the same `head`. */
  ThreadCopied: {
    threadId: string;
    from: string;
    metadata: JsonObject;
    head: string | null;
    graph: GraphBinding | null;
    title?: string;
    ttl?: Ttl;
  };
  /**
   * The events before it come from a file. `metadata` is the thread's whole metadata, a present `ttl` starts the timer.
   * The file may tell of an earlier import: the last one counts.
   */
  ThreadImported: {
    threadId: string;
    metadata: JsonObject;
    ttl?: Ttl;
    origin: ImportOrigin;
  };
  /** `metadata` is the whole object after the change. A present `ttl` restarts the timer. */
  ThreadUpdated: Carried & { threadId: string; metadata: JsonObject; ttl?: Ttl };
  /**
   * All checkpoints except `kept` are deleted, and so are the frames of all runs. `disarms`: the time to live ends
   * here. `runs` are deleted with all their content; `stays` is what the thread then shows. Older events lack both.
   * `title`: the thread's, when the run that gave it is among `runs`.
   */
  ThreadPruned: Carried & {
    threadId: string;
    kept: readonly CheckpointKey[];
    disarms: boolean;
    runs?: readonly string[];
    stays?: Standing;
    title?: string;
  };
  /**
   * `threadMetadata`: the thread's whole metadata after the event. `notBefore`: milliseconds since 1970. `title`: the
   * thread's title, when no other run has given it one.
   */
  RunCreated: Carried & {
    threadId: string;
    runId: string;
    assistantId: string;
    graphId: string;
    strategy: MultitaskStrategy;
    metadata: JsonObject;
    kwargs: RunKwargs;
    threadMetadata: JsonObject;
    notBefore: number;
    title?: string;
  };
  /** `incarnation`: token of the server process that executes the attempt. */
  RunStarted: { threadId: string; runId: string; attempt: number; leaseId: string; incarnation?: string };
  /** Graph code of the attempt is about to start. First attempts have no such event: they always count as begun. */
  RunBegun: { threadId: string; runId: string; attempt: number };
  /**
   * The attempt ended and the run is queued again. `lost`: its process died after graph code had begun. `deaths` and
   * `charges`: the run's account after the event, with `missing` (fault.ts). `incarnation`: token of the server process
   * that died.
   */
  RunRequeued: {
    threadId: string;
    runId: string;
    attempt: number;
    reason: string;
    lost: boolean;
    deaths: number;
    charges: number;
    missing?: string;
    incarnation?: string;
  };
  /** `keep`: what the run streams of its unfinished messages is added to the thread's state at its end. */
  RunCancelRequested: { threadId: string; runId: string; action: CancelAction; keep?: Keep } & Stop;
  CheckpointSaved: Carried & {
    threadId: string;
    runId: string;
    attempt: number;
    checkpointId: string;
    parentId: string | null;
    ns: string;
    step: number;
    source: string;
    /** Of the run up to this step of the root graph, when it has used a model. */
    usage?: Usage;
  };
  /** A client updated the state between runs. `head`, `next` and `interrupts` are the thread's after the event. */
  StateUpdated: Carried & {
    threadId: string;
    updateId: string;
    /** Saved checkpoints, oldest first. */
    checkpoints: readonly SavedCheckpoint[];
    head: string | null;
    next: readonly string[];
    interrupts: JsonObject;
  };
  /** X3 The one terminal event of a run. `remaining`: number of other queued or running runs of the thread. */
  RunCompleted: Carried & {
    threadId: string;
    runId: string;
    attempt: number;
    outcome: Outcome;
    remaining: number;
    /** Head checkpoint of the root namespace after the run. */
    head: string | null;
    /** Minutes from this event until the thread is pruned. */
    rearm?: number;
    observed?: Observed;
    repeated?: readonly RepeatedCalls[];
    usage?: Usage;
  };
  /**
   * An ended run is deleted with its frames, its input and its checkpoints except `kept`, which later checkpoints
   * need. `left`: the outcome that the thread shows now, null when no other run has ended; its `runId` is null after a
   * client's state update. With `stays` the thread's state does not change and all the run's checkpoints stay.
   */
  RunDeleted: Carried & {
    threadId: string;
    runId: string;
    kept: readonly CheckpointKey[];
    head: string | null;
    left: { readonly runId: string | null; readonly outcome: Outcome } | null;
    stays?: Standing;
  };
  /** The stream's tombstone: all earlier events are purged in the same commit (L3). */
  ThreadDeleted: { threadId: string };
}

export type ThreadEvent = {
  [K in keyof ThreadEventMap]: { readonly type: K; readonly data: ThreadEventMap[K] };
}[keyof ThreadEventMap];

/** The types of events that this program can read. */
export const THREAD_EVENTS: Readonly<Record<ThreadEvent['type'], true>> = {
  ThreadCreated: true,
  ThreadCopied: true,
  ThreadUpdated: true,
  ThreadImported: true,
  ThreadPruned: true,
  RunCreated: true,
  RunStarted: true,
  RunBegun: true,
  RunRequeued: true,
  RunCancelRequested: true,
  CheckpointSaved: true,
  StateUpdated: true,
  RunCompleted: true,
  RunDeleted: true,
  ThreadDeleted: true,
};

const THREAD = 'thread-';
export const threadStream = (threadId: string): string => `${THREAD}${threadId}`;
/** Undefined for a stream of something else. */
export const threadIdOf = (stream: string): string | undefined =>
  stream.startsWith(THREAD) ? stream.slice(THREAD.length) : undefined;
