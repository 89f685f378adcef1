/**
 * Questions about the store's items. A2 A filter is part of each; it is matched against the value with the item's
 * `namespace` and `key` in it. An expired item is not there, whether it was swept or not.
 */
import type { Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Namespace } from '../../../item/namespace.ts';

export interface ItemPlace {
  readonly itemId: string;
  readonly namespace: Namespace;
  readonly key: string;
}

export interface ItemRecord extends ItemPlace {
  /** The value as JSON text: see `valueOf`. */
  readonly data: string;
  /** Microseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds since 1970; null: never. */
  readonly expiresAt: number | null;
}

/** Throws for what was not stored by this program. */
export const valueOf = ({ data, itemId }: ItemRecord): JsonObject =>
  fromStored(data, 'value of item', itemId) as JsonObject;

export interface ItemScan {
  readonly prefix: Namespace;
  /** A filter over the value; plain values are equal. */
  readonly match?: JsonObject;
  readonly access?: Filter;
  readonly now: number;
}

/** A candidate lies in the namespace and matches; it counts as scanned whether the caller may see it or not. */
export interface Candidate {
  readonly itemId: string;
  readonly allowed: boolean;
}

/** `*` stands for any one label. */
export interface NamespaceMatch {
  readonly at: 'prefix' | 'suffix';
  readonly path: Namespace;
}

export interface NamespaceSearch {
  readonly matches: readonly NamespaceMatch[];
  /** Deeper namespaces are cut to this many labels. */
  readonly maxDepth?: number;
  readonly access?: Filter;
  readonly now: number;
}

/** `seen`: items that were looked at, for a limit of the caller's. */
export interface NamespacePage {
  readonly namespaces: readonly Namespace[];
  readonly seen: number;
}

export interface ItemViews {
  /** Those of the items that are there and allowed, in any order. */
  get(itemIds: readonly string[], now: number, filter?: Filter): Promise<ItemRecord[]>;
  /** Pages of candidates, the last updated first. */
  scan(scan: ItemScan): AsyncIterable<Candidate[]>;
  /** Pages of namespaces that hold items the caller may see, in the order of their labels, none twice. */
  namespaces(search: NamespaceSearch): AsyncIterable<NamespacePage>;
  /** The vectors of some items, by item. */
  vectors(itemIds: readonly string[]): Promise<Map<string, string[]>>;
  /** Items whose time is over, the longest over first. */
  expired(now: number, limit: number): Promise<ItemPlace[]>;
  /** When the store was written last, microseconds since 1970; 0 of an empty one. */
  lastUpdate(): Promise<number>;
}
