/**
 * The store as graph code reaches it: plain data and one async call, so that it can cross into a graph worker.
 *
 * X2 Whoever implements `StorePort` refuses what comes from an executor whose attempt or lease is stale, by throwing.
 */
import type { Json, JsonObject } from '../kernel/json.ts';

export interface StoredItem {
  readonly namespace: readonly string[];
  readonly key: string;
  /** The value as JSON text, which crosses between threads as it is. */
  readonly data: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Likeness to the query, when there was one. */
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
      /** `*` stands for any one label. */
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
      /** Parts of the value to find it by; false: none. */
      readonly index?: false | readonly string[];
    }
  | { readonly kind: 'delete'; readonly namespace: readonly string[]; readonly key: string };

/** An item or null for `get`, items for `search`, namespaces for `namespaces`, null for the others. */
export type StoreAnswer = StoredItem | readonly StoredItem[] | readonly (readonly string[])[] | null;

export interface StorePort {
  /**
   * Answers in the order of the requests. Reads see what was before any write of the batch. Up to 250 writes are
   * one commit, all or nothing; more are several. Of several to one item the last counts. Rejects, and nothing is
   * written, when a request is malformed.
   */
  batch(requests: readonly StoreRequest[]): Promise<readonly StoreAnswer[]>;
}
