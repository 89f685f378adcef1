/**
 * The item store for HTTP routes and graphs: embedding, expiry, and refresh on read. X2 Writes of a run carry its
 * lease. Embedding happens before a commit, never inside one.
 */
import { EmbeddingFailed, similarity, textsOf, toVectorText } from '../item/embedding.ts';
import type { Embedder, IndexChoice } from '../item/embedding.ts';
import { itemIdOf } from '../item/events.ts';
import { fromPath, toPath, type Namespace } from '../item/namespace.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { MAX_RESPONSE_CHARS } from '../kernel/json-text.ts';
import type { EventLog, Lease } from '../store/port/log.ts';
import type { Filter } from '../kernel/filter.ts';
import type { Items, ItemsWritten, ItemWrite } from './items.ts';
import type { Candidate, ItemRecord, NamespaceMatch } from '../store/port/views/items.ts';

interface StoreTtl {
  readonly refreshOnRead: boolean;
  /** Minutes until expiry unless a write sets its own; null: never. */
  readonly defaultTtl: number | null;
}

/** A read or write that is impossible; `message` is shown to the client. */
export class StoreProblem extends Error {
  readonly code: 'embedding' | 'scan-limit' | 'too-large' | 'lease-stale';
  constructor(code: StoreProblem['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreProblem';
    this.code = code;
  }
}

/** Identity, access filter and lease of the caller. */
interface Caller {
  readonly by?: string | undefined;
  readonly access?: Filter | undefined;
  readonly lease?: Lease | undefined;
}

interface Reading extends Caller {
  /** Tells whether the read restarts the items' expiry; absent: as configured. */
  readonly refresh?: boolean | undefined;
}

interface Put {
  readonly kind: 'put';
  readonly namespace: Namespace;
  readonly key: string;
  readonly value: JsonObject;
  /** Minutes until expiry; null: never; absent: the configured default. */
  readonly ttl?: number | null | undefined;
  readonly index?: IndexChoice;
}

interface Delete {
  readonly kind: 'delete';
  readonly namespace: Namespace;
  readonly key: string;
}

interface Search {
  readonly prefix: Namespace;
  readonly match?: JsonObject | undefined;
  /** Text for semantic ranking. */
  readonly query?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export type FoundItem = ItemRecord & { readonly score?: number };

interface NamespaceListing {
  readonly matches: readonly NamespaceMatch[];
  readonly maxDepth?: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** All methods throw `LogUnavailable`, and `StoreProblem` where noted. */
export interface Store {
  get(namespace: Namespace, key: string, reading: Reading): Promise<ItemRecord | undefined>;
  /** Writes in one commit. Throws `StoreProblem` when embedding fails; nothing is written then. */
  write(changes: readonly (Put | Delete)[], caller: Caller): Promise<ItemsWritten>;
  /** Throws `StoreProblem` when the scan or the answer is too large, or when embedding fails. */
  search(search: Search, reading: Reading): Promise<FoundItem[]>;
  namespaces(listing: NamespaceListing, caller: Caller): Promise<Namespace[]>;
}

export interface StoreOptions {
  readonly log: EventLog;
  readonly items: Items;
  readonly clock: Clock;
  readonly ttl: StoreTtl;
  readonly embedder?: Embedder | undefined;
  /** Receives the cause of a failed embedding. */
  readonly onFault: (error: unknown, context: string) => void;
}

/** Maximum of items that one request with an access filter may scan. */
const MAX_SCANNED_ITEMS = 10_000;
const ITEMS_SCORED_PER_PART = 200;
const ITEMS_READ_PER_PART = 5;

/** Adds to an answer's size. Throws `StoreProblem` beyond `MAX_RESPONSE_CHARS` characters, also on every later call. */
export type AnswerCount = (item?: { readonly data: string }) => void;

export function countAnswer(): AnswerCount {
  let size = 0;
  return (item) => {
    size += item?.data.length ?? 0;
    if (size > MAX_RESPONSE_CHARS)
      throw new StoreProblem(
        'too-large',
        `store: the items found are larger than ${MAX_RESPONSE_CHARS / 2 ** 20} MB together. Ask for fewer, or narrow the namespace or filter.`,
      );
  };
}

export function createStore({ log, items, clock, ttl, embedder, onFault }: StoreOptions): Store {
  async function embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    if (texts.length === 0 || embedder === undefined) return [];
    try {
      return await embedder.embed(texts);
    } catch (error) {
      onFault(error, 'embedding for the store');
      const reason = error instanceof EmbeddingFailed ? error.message : 'the embedding function failed';
      throw new StoreProblem('embedding', `store: ${reason}`, error);
    }
  }

  async function toWrites(changes: readonly (Put | Delete)[]): Promise<ItemWrite[]> {
    const texts = changes.map((change) =>
      change.kind === 'delete' || change.index === false || embedder === undefined
        ? []
        : textsOf(change.value, change.index ?? embedder.fields),
    );
    const wanted = [...new Set(texts.flat())];
    const vectors = await embed(wanted);
    const byText = new Map(wanted.map((text, index) => [text, toVectorText(vectors[index] ?? [])]));
    return changes.map((change, index) => {
      const { namespace, key } = change;
      if (change.kind === 'delete') return change;
      return {
        kind: 'put',
        namespace,
        key,
        value: JSON.stringify(change.value),
        ttl: change.ttl === undefined ? ttl.defaultTtl : change.ttl,
        vectors: texts[index]!.map((text) => byText.get(text)!),
      };
    });
  }

  async function refresh(found: readonly ItemRecord[], reading: Reading): Promise<void> {
    const mortal = found.filter(({ expiresAt }) => expiresAt !== null);
    if (!(reading.refresh ?? ttl.refreshOnRead) || mortal.length === 0) return;
    const { lease } = reading;
    const writes = mortal.map(({ namespace, key }) => ({ kind: 'refresh', namespace, key }) as const);
    const written = await items.write(writes, { lease });
    if (!written.ok) throw new StoreProblem('lease-stale', 'store: the run is no longer this one to execute');
  }

  /** Returns the item ids of one page in order, with scores when there is a query. */
  async function find(
    { prefix, match, query, limit, offset }: Search,
    access: Filter | undefined,
  ): Promise<{ itemId: string; score?: number }[]> {
    // A query without an index ranks nothing, as in LangGraph's own stores, but still returns items.
    const [wanted] = query === undefined || embedder === undefined ? [] : await embed([query]);
    const scan = { prefix, now: clock.now(), ...(match && { match }), ...(access && { access }) };
    const found: { itemId: string; score?: number }[] = [];
    let scanned = 0;
    for await (const page of log.views.items.scan(scan)) {
      const left = access === undefined ? page.length : Math.max(0, MAX_SCANNED_ITEMS - scanned);
      scanned += page.length;
      const seen = page.slice(0, left).filter(({ allowed }) => allowed);
      found.push(...(wanted === undefined ? seen : await score(wanted, seen)));
      if (wanted === undefined && found.length >= offset + limit) break;
      assertScanned(scanned, access);
    }
    if (wanted !== undefined) found.sort((a, b) => b.score! - a.score!);
    return found.slice(offset, offset + limit);
  }

  async function score(
    wanted: readonly number[],
    candidates: readonly Candidate[],
  ): Promise<{ itemId: string; score: number }[]> {
    const scored: { itemId: string; score: number }[] = [];
    // Scores in parts, because the arithmetic blocks the event loop.
    for (let from = 0; from < candidates.length; from += ITEMS_SCORED_PER_PART) {
      const ids = candidates.slice(from, from + ITEMS_SCORED_PER_PART).map(({ itemId }) => itemId);
      const vectors = await log.views.items.vectors(ids);
      // Keeps the candidates' order: among equal scores the last updated comes first.
      for (const itemId of ids) {
        const own = vectors.get(itemId);
        if (own !== undefined)
          scored.push({ itemId, score: Math.max(...own.map((vector) => similarity(wanted, vector))) });
      }
    }
    return scored;
  }

  return {
    async get(namespace, key, reading) {
      const [item] = await log.views.items.get([itemIdOf(namespace, key)], clock.now(), reading.access);
      if (item !== undefined) await refresh([item], reading);
      return item;
    },
    async write(changes, caller) {
      return items.write(await toWrites(changes), caller);
    },
    async search(search, reading) {
      const page = await find(search, reading.access);
      const ids = page.map(({ itemId }) => itemId);
      const records: ItemRecord[] = [];
      const count = countAnswer();
      // Reads in parts, because items may be large.
      for (let from = 0; from < ids.length; from += ITEMS_READ_PER_PART) {
        if (from > 0) await breathe();
        const some = ids.slice(from, from + ITEMS_READ_PER_PART);
        const read = await log.views.items.get(some, clock.now(), reading.access);
        read.forEach((item) => count(item));
        records.push(...read);
      }
      const byId = new Map(records.map((record) => [record.itemId, record]));
      const found = page.flatMap(({ itemId, score }) => {
        const record = byId.get(itemId);
        return record === undefined ? [] : [{ ...record, ...(score !== undefined && { score }) }];
      });
      await refresh(found, reading);
      return found;
    },
    async namespaces({ matches, maxDepth, limit, offset }, { access }) {
      const search = { matches, now: clock.now(), ...(maxDepth && { maxDepth }), ...(access && { access }) };
      const found: string[] = [];
      let scanned = 0;
      for await (const { namespaces, seen } of log.views.items.namespaces(search)) {
        scanned += seen;
        found.push(...namespaces.map(toPath));
        if (found.length >= offset + limit) break;
        assertScanned(scanned, access);
      }
      return found.slice(offset, offset + limit).map(fromPath);
    },
  };
}

function assertScanned(scanned: number, access: Filter | undefined): void {
  if (access !== undefined && scanned > MAX_SCANNED_ITEMS)
    throw new StoreProblem(
      'scan-limit',
      'Authenticated store query exceeded maximum scan limit. Narrow the namespace or filters.',
    );
}
