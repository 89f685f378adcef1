/**
 * The facts of an item of the store. See thread/events.ts for the rules of facts.
 *
 * A fact tells the whole of an item but its value, which is a payload: a value that was replaced or deleted has to be
 * gone from the files. So the last fact is all that an item needs, and the earlier ones are purged by it (L3).
 */
import { fingerprint } from '../kernel/ids.ts';
import type { Namespace } from './namespace.ts';

export interface ItemFact {
  readonly itemId: string;
  readonly namespace: Namespace;
  readonly key: string;
  /** Microseconds since 1970, no two alike in one store: what was written last comes first. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Minutes that the item lives after it was written or refreshed; null: for ever. */
  readonly ttl: number | null;
  /** Milliseconds since 1970; from then on nobody sees it. */
  readonly expiresAt: number | null;
}

export interface ItemEventMap {
  ItemPut: ItemFact;
  /** It was read, and lives on. */
  ItemRefreshed: ItemFact;
  /** The tombstone: says nothing of what there was. */
  ItemDeleted: { readonly itemId: string };
}

export type ItemEvent = {
  [K in keyof ItemEventMap]: { readonly type: K; readonly data: ItemEventMap[K] };
}[keyof ItemEventMap];

/** The same place always has the same id, which does not tell the place. */
export const itemIdOf = (namespace: Namespace, key: string): string =>
  fingerprint(JSON.stringify([namespace, key]));

export const itemStream = (itemId: string): string => `item-${itemId}`;
export const isItemStream = (stream: string): boolean => stream.startsWith('item-');
