/** Decides commands on store items. D3 A command that changes nothing yields no event. */
import { itemIdOf, type ItemEvent, type ItemFact } from './events.ts';
import type { Namespace } from './namespace.ts';

/** Last event of an existing item; undefined for a missing or deleted one. */
export type ItemState = ItemFact | undefined;

export type ItemCommand =
  /** `at`: microseconds since 1970, later than all earlier writes of the store. `ttl` in minutes. */
  | { type: 'Put'; namespace: Namespace; key: string; ttl: number | null; at: number }
  | { type: 'Refresh'; namespace: Namespace; key: string }
  | { type: 'Delete'; namespace: Namespace; key: string }
  /** Deletes the item only if it has expired. */
  | { type: 'Expire'; namespace: Namespace; key: string };

const MINUTE_MS = 60_000;
/** A refresh that extends an item by less is not committed. */
const MIN_EXTENSION_MS = 1_000;

/** `now`: milliseconds since 1970. */
export function decideItem(command: ItemCommand, state: ItemState, now: number): ItemEvent | undefined {
  const { namespace, key } = command;
  const itemId = itemIdOf(namespace, key);
  switch (command.type) {
    case 'Put': {
      const { ttl, at } = command;
      const present = state !== undefined && !isExpired(state, now) ? state : undefined;
      // A repeated write is later in milliseconds too, the precision that clients read.
      const updatedAt = Math.max(at, present === undefined ? 0 : nextMillisecond(present.updatedAt));
      const createdAt = present?.createdAt ?? updatedAt;
      const expiresAt = expiryOf(ttl, now);
      return { type: 'ItemPut', data: { itemId, namespace, key, createdAt, updatedAt, ttl, expiresAt } };
    }
    case 'Refresh': {
      if (state === undefined || state.expiresAt === null || isExpired(state, now)) return undefined;
      const expiresAt = expiryOf(state.ttl, now);
      if (expiresAt === null || expiresAt - state.expiresAt < MIN_EXTENSION_MS) return undefined;
      return { type: 'ItemRefreshed', data: { ...state, expiresAt } };
    }
    case 'Delete':
      return state && { type: 'ItemDeleted', data: { itemId } };
    case 'Expire':
      return state !== undefined && isExpired(state, now)
        ? { type: 'ItemDeleted', data: { itemId } }
        : undefined;
  }
}

export const evolveItem = (_: ItemState, event: ItemEvent): ItemState =>
  event.type === 'ItemDeleted' ? undefined : event.data;

const isExpired = ({ expiresAt }: ItemFact, now: number): boolean => expiresAt !== null && expiresAt <= now;

const expiryOf = (ttl: number | null, now: number): number | null =>
  ttl === null ? null : Math.ceil(now + ttl * MINUTE_MS);

const nextMillisecond = (us: number): number => (Math.floor(us / 1000) + 1) * 1000;
