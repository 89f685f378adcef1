/** Questions about crons. */
import type { CronContent } from '../../../cron/events.ts';
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';

export interface CronRecord extends CronContent {
  readonly cronId: string;
  readonly nextAt: number | null;
  /** Why its last slot started no run; `slot` in milliseconds since 1970. */
  readonly refused: { readonly slot: number; readonly reason: string } | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Where a cron's stream ends: what has to be known to delete it. */
export interface CronEnd {
  readonly cronId: string;
  readonly version: number;
}

export const CRON_SORTS = [
  'cron_id',
  'assistant_id',
  'thread_id',
  'next_run_date',
  'end_time',
  'created_at',
  'updated_at',
] as const;

export interface CronConditions {
  readonly assistantId?: string;
  readonly threadId?: string;
  readonly enabled?: boolean;
  readonly metadata?: JsonObject;
  /** A cron on a thread is found with its thread. */
  readonly threadFilter?: Filter | undefined;
}

export interface CronSearch extends CronConditions {
  readonly sortBy: (typeof CRON_SORTS)[number];
  readonly sortOrder: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

export interface CronViews {
  get(cronId: string, filter?: Filter): Promise<CronRecord | undefined>;
  /** The matches of one page, and how many there are in all. */
  search(search: CronSearch, filter?: Filter): Promise<{ crons: CronRecord[]; total: number }>;
  count(wanted: CronConditions, filter?: Filter): Promise<number>;
  of(of: { readonly threadId: string } | { readonly assistantId: string }): Promise<CronEnd[]>;
  /** The longest due first, without those of `except`. */
  due(now: number, limit: number, except: readonly string[]): Promise<string[]>;
  /** Whether a cron is yet to fire, or its end is yet to come: only such a cron can have the plan of a clock ahead. */
  hasPlanned(now: number): Promise<boolean>;
}
