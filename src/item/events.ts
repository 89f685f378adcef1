/**
 * The events of a store item. `thread/events.ts` has the rules for events.
 *
 * An event contains the whole item except its value. The value is a payload, because replaced or deleted values must
 * leave the files. So the last event suffices, and each event purges the earlier ones (L3).
 */
import { fingerprint } from '../kernel/ids.ts';
import type { Namespace } from './namespace.ts';

export interface ItemFact {
  readonly itemId: string;
  readonly namespace: Namespace;
  readonly key: string;
  /** Microseconds since 1970, unique within a store, so that listings have a total order. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Minutes until expiry after a write or refresh; null: never. */
  readonly ttl: number | null;
  /** Expiry in milliseconds since 1970; expired items are hidden. */
  readonly expiresAt: number | null;
}

interface ItemEventMap {
  ItemPut: ItemFact;
  /** A read restarted the item's expiry. */
  ItemRefreshed: ItemFact;
  /** The tombstone, without content of the item. */
  ItemDeleted: { readonly itemId: string };
}

export type ItemEvent = {
  [K in keyof ItemEventMap]: { readonly type: K; readonly data: ItemEventMap[K] };
}[keyof ItemEventMap];

/** The types of events that this program can read. */
export const ITEM_EVENTS: Readonly<Record<ItemEvent['type'], true>> = {
  ItemPut: true,
  ItemRefreshed: true,
  ItemDeleted: true,
};

/** Derives an item's id from namespace and key, without revealing them. */
export const itemIdOf = (namespace: Namespace, key: string): string =>
  fingerprint(JSON.stringify([namespace, key]));

export const itemStream = (itemId: string): string => `item-${itemId}`;
export const isItemStream = (stream: string): boolean => stream.startsWith('item-');
