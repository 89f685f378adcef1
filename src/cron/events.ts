/**
 * The facts of a cron: a run that starts by itself at the slots of a schedule. See thread/events.ts for the rules of
 * facts. Times are milliseconds since 1970.
 */
import type { JsonObject } from '../kernel/json.ts';

export interface CronContent {
  readonly assistantId: string;
  /** Null: every run gets a thread of its own. */
  readonly threadId: string | null;
  readonly schedule: string;
  /** An IANA name; null is UTC. */
  readonly timezone: string | null;
  /** No slot after it. */
  readonly endTime: number | null;
  readonly enabled: boolean;
  /** Of the run's own thread; null where it has none. */
  readonly onRunCompleted: 'delete' | 'keep' | null;
  /** Who made it, and for whom its runs are. */
  readonly userId: string | null;
  /** What its runs are asked to do, in the words of a request. Never holds the user's secrets (A4). */
  readonly payload: JsonObject;
  readonly metadata: JsonObject;
}

/** `nextAt`: the slot that is next, also when it is past already; null when none comes any more. A disabled cron keeps it. */
interface Planned {
  readonly cronId: string;
  readonly nextAt: number | null;
}

/** `since`: the oldest slot that nothing was done about, when this one stands for it too. */
interface Taken extends Planned {
  readonly slot: number;
  readonly since: number | null;
}

export interface CronEventMap {
  CronCreated: Planned & CronContent;
  /** The whole of it after the change. */
  CronUpdated: Planned & CronContent;
  /** Appended in the commit that creates the run. */
  CronFired: Taken & { readonly runId: string; readonly threadId: string };
  /** The slot is over without a run. */
  CronSlotPassed: Taken & { readonly reason: string };
  /** The stream's tombstone: everything before it is purged in the same commit (L3). */
  CronDeleted: { readonly cronId: string };
}

export type CronEvent = {
  [K in keyof CronEventMap]: { readonly type: K; readonly data: CronEventMap[K] };
}[keyof CronEventMap];

export const cronStream = (cronId: string): string => `cron-${cronId}`;
export const isCronStream = (stream: string): boolean => stream.startsWith('cron-');
