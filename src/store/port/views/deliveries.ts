/** Questions about owed webhooks. Access to one is access to its thread: filters are matched against its metadata. */
import type { DeliveryState, DeliveryStatus } from '../../../delivery/decide.ts';
import type { Filter } from '../../../kernel/filter.ts';

export interface DeliveryRecord extends DeliveryState {
  readonly runId: string;
  readonly threadId: string;
  /** With its secrets: no client is shown it. */
  readonly url: string;
  readonly host: string;
  readonly version: number;
  /** When the next attempt is due; null when it is over. */
  readonly nextAt: number | null;
  /** Its bytes can be sent again. */
  readonly hasBody: boolean;
  readonly createdAt: number;
}

export interface DeliverySearch {
  readonly runId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly host?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  /** Owed from that moment on, milliseconds since 1970. */
  readonly since?: number | undefined;
  /** Owed before that moment. */
  readonly until?: number | undefined;
  /** Those that can be sent again. */
  readonly hasBody?: boolean;
}

export interface DeliveryViews {
  /** Without a filter, any. With one (`[]` lets all through), only what is not deleted. */
  get(deliveryId: string, filter?: Filter): Promise<DeliveryRecord | undefined>;
  /** A page of those that may be seen, newest first, and how many there are in all. Rejects with `SearchRefused`. */
  search(
    wanted: DeliverySearch,
    page: { limit: number; offset: number },
    filter: Filter | undefined,
  ): Promise<{ deliveries: DeliveryRecord[]; total: number }>;
  /** Deliveries of a thread, or of one run of it. */
  of(threadId: string, runId?: string): Promise<DeliveryRecord[]>;
  /** Hosts that are owed something now, the longest waiting first. Costs one look per host, not per delivery. */
  dueHosts(now: number): Promise<string[]>;
  /** What a host is owed now, longest due first. `ahead`: `now` by the clock that planned them later (`lead`). */
  due(host: string, now: number, limit: number, ahead?: number): Promise<DeliveryRecord[]>;
  /** Returns by how many milliseconds a clock was ahead of `now` when it planned deliveries that are still owed. */
  lead(now: number): Promise<number>;
  /** Those that were delivered before that moment and still have their bodies. */
  keptSince(before: number, limit: number): Promise<string[]>;
}
