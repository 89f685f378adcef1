/**
 * The write path of store items: all writes of one call share one commit.
 *
 * D1 Every change of an item passes through `write`. D3 A refusal is a value and writes nothing. L3 Replaced or
 * deleted content is purged in the same commit. X2 A write with a stale lease is refused. Writes of one item are
 * decided one at a time.
 */
import { decideItem, evolveItem, type ItemCommand, type ItemState } from '../item/decide.ts';
import { itemIdOf, itemStream, type ItemEvent } from '../item/events.ts';
import type { Namespace } from '../item/namespace.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Append, EventLog, Lease } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { Filter } from '../kernel/filter.ts';
import { commit, CONFLICT, untilCommitted } from './aggregate.ts';

export type ItemWrite = { readonly namespace: Namespace; readonly key: string } & (
  | {
      readonly kind: 'put';
      /** JSON text of an object. */
      readonly value: string;
      /** Minutes; null: never expires. */
      readonly ttl: number | null;
      readonly vectors: readonly string[];
    }
  | { readonly kind: 'delete' | 'refresh' | 'expire' }
);

export type ItemsWritten =
  /** `changed`: number of items that changed. */
  | { readonly ok: true; readonly changed: number }
  /** `item-foreign`: the caller may not change an existing item. `lease-stale`: the run's lease is no longer valid. */
  | { readonly ok: false; readonly refusal: 'item-foreign' | 'lease-stale' };

interface ItemWriteOptions {
  readonly lease?: Lease | undefined;
  /** Identity of the caller (log/log.ts). */
  readonly by?: string | undefined;
  /** Existing items that the caller may change. */
  readonly access?: Filter | undefined;
}

export interface Items {
  /** All or nothing. The last of several writes to one item counts. Throws `LogUnavailable`. */
  write(writes: readonly ItemWrite[], options?: ItemWriteOptions): Promise<ItemsWritten>;
}

export function createItems({
  log,
  clock,
  ids,
}: {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly ids: Ids;
}): Items {
  /** Promise per item id that settles when the item's last requested write is done. */
  const lanes = new Map<string, Promise<unknown>>();
  let lastUpdate = 0;
  let readLastUpdate: Promise<number> | undefined;

  async function inLanes<T>(itemIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = Promise.all(itemIds.map((itemId) => lanes.get(itemId)));
    const done = before.then(work);
    const lane = done.then(
      () => undefined,
      () => undefined,
    );
    for (const itemId of itemIds) lanes.set(itemId, lane);
    await lane;
    for (const itemId of itemIds) if (lanes.get(itemId) === lane) lanes.delete(itemId);
    return done;
  }

  async function load(itemId: string): Promise<{ state: ItemState; version: number }> {
    const events = await log.readStream(itemStream(itemId), 1, 10);
    const state = events.reduce<ItemState>((now, event) => evolveItem(now, event as ItemEvent), undefined);
    return { state, version: events.at(-1)?.meta.version ?? 0 };
  }

  function toCommand(write: ItemWrite): ItemCommand {
    const { namespace, key } = write;
    if (write.kind !== 'put') return { type: COMMANDS[write.kind], namespace, key };
    lastUpdate = Math.max(lastUpdate + 1, clock.now() * 1000);
    return { type: 'Put', namespace, key, ttl: write.ttl, at: lastUpdate };
  }

  async function attempt(
    writes: ReadonlyMap<string, ItemWrite>,
    { lease, access, by }: ItemWriteOptions,
  ): Promise<ItemsWritten | typeof CONFLICT> {
    lastUpdate = Math.max(lastUpdate, await (readLastUpdate ??= log.views.items.lastUpdate()));
    const now = clock.now();
    const appends: Append[] = [];
    const payloads: PayloadWrite[] = [];
    const touched: string[] = [];
    for (const [itemId, write] of writes) {
      const { state, version } = await load(itemId);
      const event = decideItem(toCommand(write), state, now);
      if (event === undefined) continue;
      if (event.type === 'ItemPut') lastUpdate = Math.max(lastUpdate, event.data.updatedAt);
      if (state !== undefined && (state.expiresAt ?? Infinity) > now) touched.push(itemId);
      appends.push({ stream: itemStream(itemId), expected: version, events: [event] });
      payloads.push(...payloadsOf(itemId, write, event, version));
    }
    // The check follows the reads of versions, so any later change is a conflict.
    if (access !== undefined && touched.length > 0)
      if ((await log.views.items.get(touched, now, access)).length < touched.length)
        return { ok: false, refusal: 'item-foreign' };
    if (appends.length === 0) return { ok: true, changed: 0 };
    const result = await commit(log, {
      commandId: ids.uuid(),
      by,
      appends,
      payloads,
      ...(lease && { lease }),
    });
    if (result.kind === 'version-conflict') return CONFLICT;
    if (result.kind === 'fenced-out') return { ok: false, refusal: 'lease-stale' };
    return { ok: true, changed: appends.length };
  }

  return {
    async write(writes, options = {}) {
      const last = new Map<string, ItemWrite>();
      for (const write of writes) {
        const itemId = itemIdOf(write.namespace, write.key);
        // Re-insertion keeps the order of the writes that count.
        last.delete(itemId);
        last.set(itemId, write);
      }
      return inLanes([...last.keys()], () => untilCommitted('an item', () => attempt(last, options)));
    },
  };
}

const COMMANDS = { delete: 'Delete', refresh: 'Refresh', expire: 'Expire' } as const;

function payloadsOf(itemId: string, write: ItemWrite, event: ItemEvent, version: number): PayloadWrite[] {
  const payloads: PayloadWrite[] = [];
  const isNew = version === 0;
  if (!isNew) payloads.push({ kind: 'purge-stream', stream: itemStream(itemId), tombstone: version + 1 });
  if (event.type === 'ItemDeleted') payloads.push({ kind: 'erase-item', itemId });
  if (write.kind !== 'put') return payloads;
  payloads.push({ kind: 'item-value', itemId, data: write.value });
  if (!isNew || write.vectors.length > 0)
    payloads.push({ kind: 'item-vectors', itemId, vectors: write.vectors });
  return payloads;
}
