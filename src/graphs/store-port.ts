/**
 * The port through which graph code uses the item store: plain data and one async call, so it works from a graph worker.
 *
 * X2 A `StorePort` rejects batches under a stale attempt or lease.
 */
import type { Json, JsonObject } from '../kernel/json.ts';

export interface StoredItem {
  readonly namespace: readonly string[];
  readonly key: string;
  /** The value as JSON text, which crosses process boundaries unchanged. */
  readonly data: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Similarity to the query; absent without a query. */
  readonly score?: number;
}

export type StoreRequest =
  | { readonly kind: 'get'; readonly namespace: readonly string[]; readonly key: string }
  | {
      readonly kind: 'search';
      readonly prefix: readonly string[];
      readonly filter?: Json;
      readonly query?: string;
      readonly limit: number;
      readonly offset: number;
    }
  | {
      readonly kind: 'namespaces';
      /** `*` matches any single label. */
      readonly matches: readonly { readonly at: 'prefix' | 'suffix'; readonly path: readonly string[] }[];
      readonly maxDepth?: number;
      readonly limit: number;
      readonly offset: number;
    }
  | {
      readonly kind: 'put';
      readonly namespace: readonly string[];
      readonly key: string;
      readonly value: JsonObject;
      /** Paths within the value to index for search; false indexes nothing. */
      readonly index?: false | readonly string[];
    }
  | { readonly kind: 'delete'; readonly namespace: readonly string[]; readonly key: string };

/** An item or null for `get`, items for `search`, namespaces for `namespaces`, null for the others. */
export type StoreAnswer = StoredItem | readonly StoredItem[] | readonly (readonly string[])[] | null;

export interface StorePort {
  /**
   * Answers in the order of the requests. Reads do not see the writes of their batch. Up to 250 writes share one atomic
   * commit; more take several. The last write to an item wins. Rejects a malformed request before writing anything.
   */
  batch(requests: readonly StoreRequest[]): Promise<readonly StoreAnswer[]>;
}
