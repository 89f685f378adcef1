/** Every fact there is, and how it looks once recorded. */
import { ASSISTANT_EVENTS, type AssistantEvent } from '../../assistant/events.ts';
import { CRON_EVENTS, type CronEvent } from '../../cron/events.ts';
import { DELIVERY_EVENTS, type DeliveryEvent } from '../../delivery/events.ts';
import { ITEM_EVENTS, type ItemEvent } from '../../item/events.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { THREAD_EVENTS, type ThreadEvent } from '../../thread/events.ts';
import { upcast, type Upcasters } from '../../thread/upcast.ts';

export type DomainEvent = ThreadEvent | AssistantEvent | DeliveryEvent | ItemEvent | CronEvent;

interface EventMeta {
  /** Number in the log's file, for people: growing, with holes where a deleted thread was purged. No row depends on it. */
  readonly position: number;
  readonly stream: string;
  /** 1..n within the stream (L2). */
  readonly version: number;
  /** The store's wall time, milliseconds since 1970. */
  readonly at: number;
  readonly commandId: string;
}

/** `by`: identity of the authenticated caller whose request caused the event, and nothing else of that user (A4). */
export interface Caused {
  readonly by?: string;
}

export type Recorded<E extends DomainEvent = DomainEvent> = E & {
  readonly data: Caused;
  readonly meta: EventMeta;
};

/** A stored event that cannot be read: its text is broken, or a later version of this program wrote it. */
export class UnreadableEvent extends Error {
  readonly position: number;
  constructor(position: number, reason: string) {
    super(`the event at position ${position} cannot be read: ${reason}`);
    this.name = 'UnreadableEvent';
    this.position = position;
  }
}

const TYPES: Record<DomainEvent['type'], true> = {
  ...THREAD_EVENTS,
  ...ASSISTANT_EVENTS,
  ...DELIVERY_EVENTS,
  ...ITEM_EVENTS,
  ...CRON_EVENTS,
};

const KNOWN: ReadonlyMap<string, DomainEvent['type']> = new Map(
  Object.keys(TYPES).map((type) => [type, type as DomainEvent['type']]),
);

/** The program's own copy of a type's name, which is compared faster than one that was read; undefined for a stranger. */
export const knownType = (type: string): DomainEvent['type'] | undefined => KNOWN.get(type);

export const upcasters: Upcasters = {
  // Version 2 has the run's account.
  RunRequeued: [(data) => ({ ...data, deaths: 0, charges: 0 })],
};

/** The data of a stored fact as this program knows it. Throws when a later version of this program wrote it. */
export const readData = (type: DomainEvent['type'], schema: number, data: unknown): JsonObject =>
  upcast(type, schema, data as JsonObject, upcasters);
