/**
 * The events of a cron, which starts runs on a schedule. `thread/events.ts` has the rules for events. Times are
 * milliseconds since 1970.
 */
import type { JsonObject } from '../kernel/json.ts';

export interface CronContent {
  readonly assistantId: string;
  /** Null: every run gets a new thread. */
  readonly threadId: string | null;
  readonly schedule: string;
  /** IANA name; null: UTC. */
  readonly timezone: string | null;
  /** Time after which there are no slots; null: none. */
  readonly endTime: number | null;
  readonly enabled: boolean;
  /** Fate of a run's new thread at the run's end; null for a cron that has a thread. */
  readonly onRunCompleted: 'delete' | 'keep' | null;
  /** Id of the user who created the cron and owns its runs. */
  readonly userId: string | null;
  /** Request body of its runs. Never contains the user's secrets (A4). */
  readonly payload: JsonObject;
  readonly metadata: JsonObject;
}

/** `nextAt`: the next slot, possibly in the past; null when there is none. A disabled cron keeps it. */
interface Planned {
  readonly cronId: string;
  readonly nextAt: number | null;
}

/** `since`: the oldest missed slot that this slot also stands for, else null. */
interface Taken extends Planned {
  readonly slot: number;
  readonly since: number | null;
}

interface CronEventMap {
  CronCreated: Planned & CronContent;
  /** Complete content after the change. */
  CronUpdated: Planned & CronContent;
  /** Appended in the commit that creates the run. */
  CronFired: Taken & { readonly runId: string; readonly threadId: string };
  /** The slot has passed without a run: its run was refused, or it was `MISSED`. */
  CronSlotPassed: Taken & { readonly reason: string };
  /** The stream's tombstone: all earlier events are purged in the same commit (L3). */
  CronDeleted: { readonly cronId: string };
}

/** The reason of slots that passed while the server was down. */
export const MISSED = 'missed';

export type CronEvent = {
  [K in keyof CronEventMap]: { readonly type: K; readonly data: CronEventMap[K] };
}[keyof CronEventMap];

/** The types of events that this program can read. */
export const CRON_EVENTS: Readonly<Record<CronEvent['type'], true>> = {
  CronCreated: true,
  CronUpdated: true,
  CronFired: true,
  CronSlotPassed: true,
  CronDeleted: true,
};

export const cronStream = (cronId: string): string => `cron-${cronId}`;
export const isCronStream = (stream: string): boolean => stream.startsWith('cron-');
