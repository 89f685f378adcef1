/**
 * The item store that graph code gets in its config, created per attempt. LangGraph.js graphs get an instance of the
 * library's `BaseStore`, plain functions an object with the same methods.
 */
import { isObject, type Json, type JsonObject } from '../kernel/json.ts';
import { flatten } from '../kernel/tagged.ts';
import { encode } from './codec.ts';
import { askedBy, noteAsker } from '../recording/session.ts';
import type { StoreAnswer, StoredItem, StorePort, StoreRequest } from './store-port.ts';

interface GraphItem {
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
  /** Default: 10 items. */
  readonly limit?: number;
  readonly offset?: number;
  readonly query?: string;
}

interface ListOptions {
  readonly prefix?: readonly string[];
  readonly suffix?: readonly string[];
  readonly maxDepth?: number;
  /** Default: 100 namespaces. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface GraphStore {
  get(namespace: readonly string[], key: string): Promise<GraphItem | null>;
  /** Stores `value` as JSON; messages, dates and other instances take their wire form. */
  put(
    namespace: readonly string[],
    key: string,
    value: Record<string, unknown>,
    index?: Index,
  ): Promise<void>;
  delete(namespace: readonly string[], key: string): Promise<void>;
  search(prefix: readonly string[], options?: SearchOptions): Promise<GraphItem[]>;
  listNamespaces(options?: ListOptions): Promise<string[][]>;
  /** Executes operations in the library's form; `StorePort.batch` defines what is atomic. */
  batch(operations: readonly Operation[]): Promise<unknown[]>;
  start(): void;
  stop(): void;
}

interface Condition {
  readonly matchType: 'prefix' | 'suffix';
  readonly path: readonly string[];
}

/** An operation in the library's form; its kind follows from the members that are set. */
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

/** `base` is an empty instance of the library's store class. */
export function createGraphStore(port: StorePort, base: object = {}): GraphStore {
  async function batch(operations: readonly Operation[]): Promise<unknown[]> {
    const requests = operations.map((operation) => {
      const request = toRequest(operation);
      noteAsker(request, askedBy(operation));
      return request;
    });
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
  const item = { namespace: [...namespace], key };
  if (value === undefined) return { kind: 'get', ...item };
  if (value === null) return { kind: 'delete', ...item };
  const stored = toJson(value, 'value');
  if (!isObject(stored)) throw new TypeError('The value of an item has to be an object');
  return { kind: 'put', ...item, value: stored, ...(index != null && { index }) };
}

/** Throws `UnstorableValue` for a value that cannot be stored; the message has its path. */
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
