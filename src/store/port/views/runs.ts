/** Questions about runs. Access to a run is access to its thread: filters are matched against the thread's metadata. */
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Bound, MultitaskStrategy, Outcome, RunKwargs, RunRef } from '../../../thread/events.ts';
import type { Usage } from '../../../thread/usage.ts';
import type { RunStatus } from '../../../thread/run-end.ts';

export interface RunRecord {
  readonly runId: string;
  readonly threadId: string;
  readonly assistantId: string;
  readonly graphId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly status: RunStatus;
  readonly metadata: JsonObject;
  readonly kwargs: RunKwargs;
  readonly strategy: MultitaskStrategy;
  readonly attempt: number;
  readonly leaseId: string | null;
  readonly outcome: Outcome | null;
  /** Why it was told to stop, as soon as it was. */
  readonly cancelReason: string | null;
  /** The thread's head checkpoint when the run ended. */
  readonly head: string | null;
  /** What it used of models until its end; null for nothing. */
  readonly usage: Usage | null;
  /**
   * Its ordinal among the runs of its thread: the version of the fact that started it first, or that ended it before it
   * could start. Runs of a thread execute one at a time (X1), so it is the order of everything they did.
   */
  readonly ordinal: number | null;
}

export type EndedRun = Pick<RunRecord, 'runId' | 'threadId' | 'outcome' | 'head'>;

export interface RunSearch {
  readonly threadId: string;
  readonly status?: RunStatus;
  readonly metadata?: JsonObject;
  readonly limit: number;
  readonly offset: number;
}

/** Runs of all threads, by id: newest first, and reversed to `newer` than a run. */
export interface RunsEverywhere {
  readonly statuses?: readonly RunStatus[];
  /** A filter on the thread's metadata. */
  readonly threadMetadata?: JsonObject;
  /** Only runs with smaller ids. */
  readonly older?: string;
  /** Only runs with greater ids, those next to it. */
  readonly newer?: string;
  readonly limit: number;
}

export interface AssistantRun {
  readonly runId: string;
  readonly threadId: string;
  /** Of a stateless run: the thread is there for this run alone. */
  readonly temporary: boolean;
  /** Some run of its thread has not ended. */
  readonly busy: boolean;
}

interface BoundRun {
  readonly bound: Bound;
  /** Null when the run is gone. */
  readonly runId: string | null;
}

export interface RunViews {
  /** With a thread id, a run of another thread is as missing as one that never was. */
  get(
    runId: string,
    of?: { threadId?: string | undefined; filter?: Filter | undefined },
  ): Promise<RunRecord | undefined>;
  /** Ids, newest first: each run may be large, and is read by itself. */
  list(search: RunSearch, filter?: Filter): Promise<string[]>;
  /** Runs that clients see: those of a stateless run's thread while they are open. Newest first. */
  everywhere(search: RunsEverywhere, filter?: Filter): Promise<RunRef[]>;
  /**
   * The listed runs, whatever they are at, or all that wait or execute. Those that wait come first: cancelled later, one
   * of them would start when the run before it has ended.
   */
  toCancel(
    wanted: { threadId?: string; runIds?: readonly string[]; status?: 'pending' | 'running' | 'all' },
    filter?: Filter,
  ): Promise<RunRef[]>;
  ofAssistant(assistantId: string): Promise<AssistantRun[]>;
  /** Those of the ids that runs of this log have. */
  taken(runIds: readonly string[]): Promise<string[]>;
  /** What these runs were created with. */
  openOrders(runIds: readonly string[]): Promise<RunKwargs[]>;
  /** The run of the thread that started last and was not refused: whose graph the thread's state is of. */
  lastStarted(threadId: string): Promise<{ graphId: string; assistantId: string } | undefined>;
  /** The run of the thread that ended last and was not refused, but `except`. */
  lastEnded(threadId: string, except?: string): Promise<RunRecord | undefined>;
  /** The run of the thread with the greatest ordinal. */
  latest(threadId: string): Promise<RunRecord | undefined>;
  /** The first run of the thread with an ordinal above `ordinal`. */
  next(threadId: string, ordinal: number): Promise<RunRecord | undefined>;
  /** The graph that a thread's state is of: of its run that started last, or of a later one that is gone. */
  bound(threadId: string): Promise<BoundRun | undefined>;
  /** Whether the run exists and has not ended. */
  isOpen(runId: string): Promise<boolean>;
  /** 'open' until the run has ended; undefined when there is none. Nothing else of the run is read. */
  end(runId: string): Promise<EndedRun | 'open' | undefined>;
  /** False for a run whose end is told to no webhook. Most are: finding that out does not read all of the run. */
  owesWebhook(runId: string): Promise<boolean>;

  /** Threads of which a run may start by `now`, longest due first. */
  dueThreads(now: number, limit: number): Promise<string[]>;
  /** Threads with a run that executes, or whose server died while it did. */
  busyThreads(): Promise<string[]>;
  /**
   * Which of these queued runs of a thread starts first. `ahead`: `now` by the clock that created runs later than `now`
   * (`lead`).
   */
  firstDue(runIds: readonly string[], now: number, ahead: number): Promise<string | undefined>;
  /** Returns by how many milliseconds a clock was ahead of `now` when it created runs that have not begun. */
  lead(now: number): Promise<number>;
}
