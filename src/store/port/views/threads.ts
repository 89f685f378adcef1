/** Questions about threads. A thread of a stateless run is seen only while that run is open, and never once it ended. */
import type { Filter } from '../../../kernel/filter.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { ThreadEventMap, Ttl } from '../../../thread/events.ts';
import type { Recorded } from '../events.ts';

export const THREAD_STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const;
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

export const THREAD_SORTS = ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const;

export interface ThreadRecord {
  readonly threadId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly stateUpdatedAt: number | null;
  readonly status: ThreadStatus;
  readonly metadata: JsonObject;
  readonly head: string | null;
  readonly interrupts: JsonObject;
  readonly error: Json;
  readonly ttl: ThreadTtl | null;
  /** Of at most 80 characters; null before a run with a human text. */
  readonly title: string | null;
}

export interface ThreadTtl extends Ttl {
  /** Milliseconds since 1970; null when the thread was pruned and no run has ended since. */
  readonly expiresAt: number | null;
}

export interface ThreadConditions {
  readonly ids?: readonly string[];
  /** A filter on the thread's metadata; plain values are contained in it. */
  readonly metadata?: JsonObject;
  readonly status?: ThreadStatus;
  /** A filter on the thread's values; a thread without values passes none. */
  readonly values?: JsonObject;
}

export interface ThreadSearch extends ThreadConditions {
  readonly sortBy: (typeof THREAD_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

export interface ThreadLeft {
  /** Without regard to runs that wait. */
  readonly status: ThreadStatus;
  readonly interrupts: JsonObject;
}

export interface ThreadViews {
  /** The thread as the event that made it leaves it; undefined when these are not that event alone. Reads nothing. */
  made(events: readonly Recorded[]): ThreadRecord | undefined;
  get(threadId: string, filter?: Filter): Promise<ThreadRecord | undefined>;
  /** The matches of one page, and how many there are in all, exactly up to 10,000. Rejects with `SearchRefused`. */
  search(search: ThreadSearch, filter?: Filter): Promise<{ threads: ThreadRecord[]; total: number }>;
  /** How many match, exactly. Rejects with `SearchRefused`. */
  count(wanted: ThreadConditions, filter?: Filter): Promise<number>;
  ttl(threadId: string): Promise<ThreadTtl | undefined>;
  /** Returns the thread's state after the run's end. Call before that end is written. */
  leftBy(end: ThreadEventMap['RunCompleted']): Promise<ThreadLeft | undefined>;
  /** Threads whose time is over and that nothing holds, longest over first. */
  outlived(now: number, limit: number): Promise<{ threadId: string; ttl: ThreadTtl }[]>;
  /** Threads of stateless runs that ended before `before`: their frames are past retention and they can go. */
  expired(than: { before: number; failedBefore: number }, limit: number): Promise<string[]>;
}
