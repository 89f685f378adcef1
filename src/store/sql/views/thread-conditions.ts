/** What clients may ask of threads. */
import type { JsonObject } from '../../../kernel/json.ts';
import type { ThreadStatus } from '../rows/threads.ts';

export const THREAD_SORTS = ['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const;

export interface ThreadConditions {
  readonly ids?: readonly string[];
  /** A filter on the thread's metadata; plain values are contained in it. */
  readonly metadata?: JsonObject;
  readonly status?: ThreadStatus;
  readonly sortBy: (typeof THREAD_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
}
