/**
 * The store that graph code gets: for LangGraph.js an object of the library's own `BaseStore`, for plain functions the
 * same methods on an object of its own. Made for one attempt, handed in with its config.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { flatten } from '../kernel/tagged.ts';
import { encode } from './codec.ts';
import type { StoreAnswer, StoredItem, StorePort, StoreRequest } from './store-port.ts';

export interface GraphItem {
  readonly namespace: string[];
  readonly key: string;
  readonly value: Record<string, unknown>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly score?: number;
}

type Index = false | readonly string[];

interface SearchOptions {
  readonly filter?: Record<string, unknown>;
  /** 10 unless told otherwise. */
  readonly limit?: number;
  readonly offset?: number;
  readonly query?: string;
}

interface ListOptions {
  readonly prefix?: readonly string[];
  readonly suffix?: readonly string[];
  readonly maxDepth?: number;
  /** 100 unless told otherwise. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface GraphStore {
  get(namespace: readonly string[], key: string): Promise<GraphItem | null>;
  /** `value` is stored as JSON: messages, dates and the like in their wire form. */
  put(
    namespace: readonly string[],
    key: string,
    value: Record<string, unknown>,
    index?: Index,
  ): Promise<void>;
  delete(namespace: readonly string[], key: string): Promise<void>;
  search(prefix: readonly string[], options?: SearchOptions): Promise<GraphItem[]>;
  listNamespaces(options?: ListOptions): Promise<string[][]>;
  /** Operations of the library's shapes; what is one commit, `StorePort` says. */
  batch(operations: readonly Operation[]): Promise<unknown[]>;
  start(): void;
  stop(): void;
}

interface Condition {
  readonly matchType: 'prefix' | 'suffix';
  readonly path: readonly string[];
}

/** The library tells operations apart by their members. */
export interface Operation {
  readonly namespace?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly value?: Record<string, unknown> | null | undefined;
  readonly index?: Index | null | undefined;
  readonly namespacePrefix?: readonly string[] | undefined;
  readonly filter?: Record<string, unknown> | null | undefined;
  readonly query?: string | null | undefined;
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
  readonly matchConditions?: readonly Condition[] | null | undefined;
  readonly maxDepth?: number | null | undefined;
}

/** `base`: an empty object of the class that the graph's library expects. */
export function createGraphStore(port: StorePort, base: object = {}): GraphStore {
  async function batch(operations: readonly Operation[]): Promise<unknown[]> {
    const requests = operations.map(toRequest);
    const answers = await port.batch(requests);
    return requests.map(({ kind }, index) => toResult(kind, answers[index] ?? null));
  }
  const one = async (operation: Operation): Promise<unknown> => (await batch([operation]))[0];

  const methods: GraphStore = {
    batch,
    get: async (namespace, key) => (await one({ namespace, key })) as GraphItem | null,
    put: async (namespace, key, value, index) =>
      void (await one({ namespace, key, value, ...(index !== undefined && { index }) })),
    delete: async (namespace, key) => void (await one({ namespace, key, value: null })),
    search: async (namespacePrefix, options = {}) =>
      (await one({ namespacePrefix, ...options })) as GraphItem[],
    listNamespaces: async ({ prefix, suffix, ...options } = {}) =>
      (await one({
        matchConditions: [
          ...(prefix === undefined ? [] : [{ matchType: 'prefix' as const, path: prefix }]),
          ...(suffix === undefined ? [] : [{ matchType: 'suffix' as const, path: suffix }]),
        ],
        ...options,
      })) as string[][],
    start: () => undefined,
    stop: () => undefined,
  };
  return Object.assign(base, methods, { toJSON: () => '[store]' });
}

function toRequest(operation: Operation): StoreRequest {
  const { namespace = [], key = '', value, index, namespacePrefix, query } = operation;
  const { limit, offset, filter, maxDepth, matchConditions } = operation;
  if (namespacePrefix !== undefined)
    return {
      kind: 'search',
      prefix: [...namespacePrefix],
      ...(filter != null && { filter: toJson(filter, 'filter') }),
      ...(query != null && { query }),
      limit: limit ?? 10,
      offset: offset ?? 0,
    };
  if (operation.namespace === undefined)
    return {
      kind: 'namespaces',
      matches: (matchConditions ?? []).map(({ matchType, path }) => ({ at: matchType, path: [...path] })),
      ...(maxDepth != null && { maxDepth }),
      limit: limit ?? 100,
      offset: offset ?? 0,
    };
  const place = { namespace: [...namespace], key };
  if (value === undefined) return { kind: 'get', ...place };
  if (value === null) return { kind: 'delete', ...place };
  const stored = toJson(value, 'value');
  if (!isObject(stored)) throw new TypeError('The value of an item has to be an object');
  return { kind: 'put', ...place, value: stored, ...(index != null && { index }) };
}

/** Throws for what cannot be stored; the message names the place in it. */
const toJson = (value: unknown, name: string): Json => flatten(JSON.parse(encode(value, name)) as Json);

function toResult(kind: StoreRequest['kind'], answer: StoreAnswer): unknown {
  switch (kind) {
    case 'get':
      return answer === null ? null : toItem(answer as StoredItem);
    case 'search':
      return (answer as readonly StoredItem[]).map(toItem);
    case 'namespaces':
      return (answer as readonly (readonly string[])[]).map((namespace) => [...namespace]);
    case 'put':
    case 'delete':
      return undefined;
  }
}

const toItem = ({ namespace, data, createdAt, updatedAt, ...rest }: StoredItem): GraphItem => ({
  ...rest,
  namespace: [...namespace],
  value: JSON.parse(data) as JsonObject,
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
});
