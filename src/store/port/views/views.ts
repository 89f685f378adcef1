/**
 * Questions about derived rows, by aggregate, as of the last commit that was acknowledged. Between an answer and what
 * follows another commit may happen: the expected version of a commit decides, never an answer.
 */
import type { AssistantViews } from './assistants.ts';
import type { CronViews } from './crons.ts';
import type { DeliveryViews } from './deliveries.ts';
import type { ItemPlace, ItemViews } from './items.ts';
import type { RunViews } from './runs.ts';
import type { ThreadViews } from './threads.ts';

export interface Views {
  readonly threads: ThreadViews;
  readonly runs: RunViews;
  readonly assistants: AssistantViews;
  readonly crons: CronViews;
  readonly deliveries: DeliveryViews;
  readonly items: ItemViews;
  readonly due: DueViews;
  readonly retention: RetentionViews;
  readonly inventory: InventoryViews;
}

/** Times at which runs, crons and deliveries become due. */
export interface DueViews {
  /** The first time after `now` at which one of them becomes due. */
  next(now: number): Promise<number | undefined>;
}

/** Position in the order in which runs ended. */
export interface EndedAt {
  readonly endedAt: number;
  readonly runId: string;
}

export interface OldRun {
  readonly runId: string;
  readonly threadId: string;
}

export interface OpenImport {
  readonly storageKey: string;
  readonly threadId: string;
  /** When it began, milliseconds since 1970. */
  readonly at: number;
}

/** What is past its time. The sweeper asks every minute, so each looks at little. */
export interface RetentionViews {
  /**
   * Of the next `looked` runs that ended after `after` and before `before`, those whose frames are still kept and whose
   * thread was not imported since `before`; and where to go on, undefined at the end.
   */
  runsWithFrames(of: {
    after: EndedAt | undefined;
    before: number;
    looked: number;
  }): Promise<{ kept: OldRun[]; next: EndedAt | undefined }>;
  /** Whether the log still answers for command ids from before that moment, milliseconds since 1970. */
  hasOldCommands(before: number): Promise<boolean>;
  /** Imports that are not complete. */
  imports(): Promise<OpenImport[]>;
}

/** All that is there, without a filter: for emptying a server a page at a time, and for its metrics. */
export interface InventoryViews {
  /** Threads of stateless runs included. */
  threads(): Promise<string[]>;
  /** All but those that graphs have of their own. */
  assistants(): Promise<string[]>;
  crons(): Promise<string[]>;
  /** Expired ones included. */
  items(): Promise<ItemPlace[]>;
  /** Rejects with `SearchRefused`. */
  counts(now: number): Promise<Counts>;
}

export interface Counts {
  readonly runs: Readonly<Record<string, number>>;
  /** Runs that could start now. */
  readonly queued: number;
  readonly deliveries: Readonly<Record<string, number>>;
  /** Creation times of pending runs; null without any. */
  readonly pending: {
    readonly oldest: number | null;
    readonly median: number | null;
    /** The oldest on a thread without a running run. */
    readonly oldestUnblocked: number | null;
  };
}

/** `busy`: too many wait already. `slow`: not done within `limitMs`. `closed`: the log is, or its thread died twice. */
export class SearchRefused extends Error {
  readonly reason: 'busy' | 'slow' | 'closed';
  readonly limitMs: number;
  constructor(reason: SearchRefused['reason'], limitMs: number) {
    super(`search refused: ${reason}`);
    this.name = 'SearchRefused';
    this.reason = reason;
    this.limitMs = limitMs;
  }
}
