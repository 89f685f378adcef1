/**
 * The facts of a thread. Their names and members are the storage format: a stored fact is never edited, an old shape
 * is upcast on read (thread/upcast.ts). A fact carries what its rows need and never what the log knows (time,
 * position, version).
 */
import type { Json, JsonObject } from '../kernel/json.ts';

export type MultitaskStrategy = 'reject' | 'enqueue' | 'interrupt' | 'rollback';
export type CancelAction = 'interrupt' | 'rollback';

/** What a client asked a run to do; everything an executor needs but the user's secrets. */
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
  /** As the client asked for them; nothing here depends on either. */
  readonly checkpointDuring?: boolean;
  readonly resumable?: boolean;
  readonly feedbackKeys?: readonly string[];
  readonly webhook?: string;
  readonly onCompletion?: 'delete' | 'keep';
  /** Of an answer without settings of its own: those of the run that asked, for a function that makes the graph. */
  readonly madeWith?: { readonly configurable: JsonObject; readonly context?: Json };
  /** An answer that does not fit the questions that wait ends the run before graph code is called. */
  readonly strictResume?: boolean;
  /** Started by a command about the thread: its readers are told of every checkpoint as well. */
  readonly protocol?: 'v2';
}

/** The thread's saved state that a run left behind: nodes still to run, and questions to a person by task id. */
export interface Pause {
  readonly next: readonly string[];
  readonly interrupts: JsonObject;
}

/** Where a failure comes from. It is for the server's log and for replay: clients see name and message alone. */
export interface Origin {
  /** Names of nodes from the root graph to the failing one, joined by `|`; a plain function is a node of its graph's name. */
  readonly node?: string;
  readonly step?: number;
  /** At most 16 KiB, in lines of the project's source files. */
  readonly stack?: string;
}

/** Why a strict answer was refused; the other members are ids of questions. Nothing of the run was executed. */
export interface ResumeRefusal {
  readonly reason: 'not_pending' | 'empty_map' | 'ambiguous';
  /** Named by the answer, and not waiting. */
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
  /** `next`: nodes still to run, undefined when the graph did not get to say. */
  | ({ readonly kind: 'cancelled'; readonly next?: readonly string[] } & Stop)
  | ({ readonly kind: 'rolled-back' } & Stop);

/** Why a run was told to stop. */
export interface Stop {
  readonly reason: string;
  /** The `cancel_reason` of the run, where it is not `reason`: of several requests to stop the first one's counts. */
  readonly cancelReason?: string;
}

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

/** What happens to a thread `minutes` after the clock was set, unless it is busy then. */
export interface Ttl {
  readonly strategy: 'delete' | 'keep-latest';
  /** More than 0; may be a fraction. */
  readonly minutes: number;
}

export interface CheckpointKey {
  readonly ns: string;
  readonly checkpointId: string;
}

/** The graph that a thread's state is of. */
export interface GraphBinding {
  readonly graphId: string;
  readonly assistantId: string;
}

/** `at`: since when, milliseconds since 1970; what started later counts. */
export interface Bound extends GraphBinding {
  readonly at: number;
}

/** How a thread stood when a run of it went: the graph that its state is of, and what it showed. */
export interface Standing {
  readonly bound: Bound | null;
  readonly status: 'idle' | 'interrupted' | 'error';
  readonly interrupts: JsonObject;
  readonly error: Json;
}

export interface ThreadEventMap {
  /** `temporary`: the thread of a stateless run; clients see it only through that run. */
  ThreadCreated: { threadId: string; metadata: JsonObject; temporary: boolean; ttl?: Ttl };
  /** A new thread with the checkpoints that another one had at this moment; `head` is the same there and here. */
  ThreadCopied: {
    threadId: string;
    from: string;
    metadata: JsonObject;
    head: string | null;
    graph: GraphBinding | null;
    ttl?: Ttl;
  };
  /** `metadata` is the whole object after the change. `ttl` is set anew when it is there. */
  ThreadUpdated: { threadId: string; metadata: JsonObject; ttl?: Ttl };
  /**
   * All checkpoints but `kept` are gone, and the frames of all runs. `disarms`: a time to live is over with it. `runs`
   * are gone with all their content, and the thread goes on as `stays` says; both are absent in facts of older programs.
   */
  ThreadPruned: {
    threadId: string;
    kept: readonly CheckpointKey[];
    disarms: boolean;
    runs?: readonly string[];
    stays?: Standing;
  };
  /** `threadMetadata` is the thread's whole metadata from now on. `notBefore`: milliseconds since 1970. */
  RunCreated: {
    threadId: string;
    runId: string;
    assistantId: string;
    graphId: string;
    strategy: MultitaskStrategy;
    metadata: JsonObject;
    kwargs: RunKwargs;
    threadMetadata: JsonObject;
    notBefore: number;
  };
  /** `incarnation`: the life of the server that executes the attempt. */
  RunStarted: { threadId: string; runId: string; attempt: number; leaseId: string; incarnation?: string };
  /** Graph code of the attempt is about to start. A run's first attempt goes without: it counts as begun. */
  RunBegun: { threadId: string; runId: string; attempt: number };
  /**
   * The attempt is over and the run waits for the next one. `lost`: its process died after it had begun. `deaths` and
   * `charges` are the run's account from now on (fault.ts). `incarnation`: the life of the server that was lost.
   */
  RunRequeued: {
    threadId: string;
    runId: string;
    attempt: number;
    reason: string;
    lost: boolean;
    deaths: number;
    charges: number;
    incarnation?: string;
  };
  RunCancelRequested: { threadId: string; runId: string; action: CancelAction } & Stop;
  CheckpointSaved: {
    threadId: string;
    runId: string;
    attempt: number;
    checkpointId: string;
    parentId: string | null;
    ns: string;
    step: number;
    source: string;
  };
  /** A client wrote into the state between runs. `head`, `next` and `interrupts` are the thread's from now on. */
  StateUpdated: {
    threadId: string;
    updateId: string;
    /** What was saved, oldest first. */
    checkpoints: readonly SavedCheckpoint[];
    head: string | null;
    next: readonly string[];
    interrupts: JsonObject;
  };
  /** The one terminal fact of a run (X3). `remaining`: other runs of the thread still queued or running. */
  RunCompleted: {
    threadId: string;
    runId: string;
    attempt: number;
    outcome: Outcome;
    remaining: number;
    /** The thread's head checkpoint of the root namespace after this run. */
    head: string | null;
    /** Minutes until the thread is pruned, counted from now on. */
    rearm?: number;
  };
  /**
   * A run that had ended is gone with its content: its checkpoints but `kept` (those that a later one cannot be read
   * without), its frames, its input. `left` is the end of a run that the thread shows from now on, null when
   * no other has ended; it is of no run when a client wrote into the state since. With `stays` the thread goes on as it
   * is, with all that the run has saved.
   */
  RunDeleted: {
    threadId: string;
    runId: string;
    kept: readonly CheckpointKey[];
    head: string | null;
    left: { readonly runId: string | null; readonly outcome: Outcome } | null;
    stays?: Standing;
  };
  /** The stream's tombstone: everything before it is purged in the same commit (L3). */
  ThreadDeleted: { threadId: string };
}

export type ThreadEvent = {
  [K in keyof ThreadEventMap]: { readonly type: K; readonly data: ThreadEventMap[K] };
}[keyof ThreadEventMap];

export const threadStream = (threadId: string): string => `thread-${threadId}`;
