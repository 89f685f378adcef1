/** The item store as graph code of one attempt uses it. X2 Every write carries the attempt's lease. */
import { countAnswer, StoreProblem, type AnswerCount, type FoundItem, type Store } from '../actors/store.ts';
import type { StoreAnswer, StoredItem, StorePort, StoreRequest } from '../graphs/store-port.ts';
import { findFilterProblem } from '../kernel/filter-syntax.ts';
import { findNamespaceProblem } from '../item/namespace.ts';
import { breathe } from '../kernel/breathe.ts';
import { openGate } from '../kernel/gate.ts';
import { findJsonProblem, findTextProblem, isObject, type JsonObject } from '../kernel/json.ts';
import type { Patience } from '../store/port/patience.ts';
import type { Lease } from '../store/port/log.ts';

export interface RunStoreOptions {
  readonly store: Store;
  readonly lease: Lease;
  /** Makes the error for a write that found the lease gone. */
  readonly fenced: () => Error;
  readonly patiently: Patience;
}

type Write = Extract<StoreRequest, { kind: 'put' | 'delete' }>;
type Read = Exclude<StoreRequest, Write>;

/** Parts of a batch that are handled between two turns of the event loop. */
const READS_PER_PART = 50;
const MAX_CONCURRENT_SEARCHES = 4;
const WRITES_PER_COMMIT = 250;

export function openRunStore({ store, lease, fenced, patiently }: RunStoreOptions): StorePort {
  // Searches are limited because each may return large items.
  const searches = openGate(MAX_CONCURRENT_SEARCHES);

  async function read(request: Read, count: AnswerCount): Promise<StoreAnswer> {
    switch (request.kind) {
      case 'get': {
        const item = await store.get(request.namespace, request.key, { lease });
        if (item === undefined) return null;
        count(item);
        return toStored(item);
      }
      case 'search': {
        const { filter, ...search } = request;
        const match = isObject(filter) ? filter : undefined;
        return searches.enter(async () => {
          // Throws when earlier answers of the batch already exceed the limit, so a useless search is skipped.
          count();
          const found = await store.search({ ...search, match }, { lease });
          found.forEach((item) => count(item));
          return found.map(toStored);
        });
      }
      case 'namespaces':
        return store.namespaces(request, {});
    }
  }

  return {
    async batch(requests) {
      for (const request of requests) assertValid(request);
      const writes = requests.filter(isWrite);
      try {
        const answers: StoreAnswer[] = [];
        const count = countAnswer();
        for (const part of inParts(requests, READS_PER_PART)) {
          const answered = await Promise.all(
            part.map(async (request) => (isWrite(request) ? null : patiently(() => read(request, count)))),
          );
          answers.push(...answered);
          if (answers.length < requests.length) await breathe();
        }
        for (const part of inParts(writes, WRITES_PER_COMMIT))
          if (!(await patiently(() => store.write(part, { lease }))).ok) throw fenced();
        return answers;
      } catch (error) {
        if (error instanceof StoreProblem && error.code === 'lease-stale') throw fenced();
        throw error;
      }
    },
  };
}

const inParts = <T>(all: readonly T[], size: number): readonly T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

const isWrite = (request: StoreRequest): request is Write =>
  request.kind === 'put' || request.kind === 'delete';

/** Throws a `TypeError` whose message addresses the author of the graph. */
function assertValid(request: StoreRequest): void {
  const problem = problemOf(request);
  if (problem !== undefined) throw new TypeError(`store: ${problem}`);
}

function filterProblem(filter: JsonObject): string | undefined {
  const error = findFilterProblem(filter, 'equal');
  return error && `filter.${error.message}`;
}

function problemOf(request: StoreRequest): string | undefined {
  switch (request.kind) {
    case 'search': {
      const { filter, prefix } = request;
      return (
        findNamespaceProblem(prefix) ??
        pageProblem(request) ??
        (isObject(filter) ? filterProblem(filter) : undefined)
      );
    }
    case 'namespaces': {
      const paths = request.matches.map(({ path }) => findNamespaceProblem(path));
      return paths.find((problem) => problem !== undefined) ?? pageProblem(request);
    }
    default: {
      const { namespace, key } = request;
      if (namespace.length === 0) return 'Namespace is required';
      if (typeof key !== 'string' || key === '') return 'key: expected at least 1 character';
      const text = findTextProblem(key);
      if (text !== undefined) return `key: expected plain text, found ${text}`;
      const place = findNamespaceProblem(namespace);
      if (place !== undefined || request.kind !== 'put') return place;
      const found = findJsonProblem(request.value);
      return found && `value: ${found.path}: ${found.problem}`;
    }
  }
}

function pageProblem({ limit, offset }: { limit: number; offset: number }): string | undefined {
  if (!Number.isInteger(limit) || limit < 0) return 'limit: expected an integer of 0 or more';
  if (!Number.isInteger(offset) || offset < 0) return 'offset: expected an integer of 0 or more';
  return undefined;
}

const toStored = ({ namespace, key, data, createdAt, updatedAt, score }: FoundItem): StoredItem => ({
  namespace,
  key,
  data,
  createdAt: Math.floor(createdAt / 1000),
  updatedAt: Math.floor(updatedAt / 1000),
  ...(score !== undefined && { score }),
});
