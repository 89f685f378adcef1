/** What can happen to an item. D3 Nothing to do is no fact. */
import { itemIdOf, type ItemEvent, type ItemFact } from './events.ts';
import type { Namespace } from './namespace.ts';

/** The last fact of an item that is there; undefined for one that never was or is deleted. */
export type ItemState = ItemFact | undefined;

export type ItemCommand =
  /** `at`: microseconds, later than every earlier write of the store. `ttl` in minutes. */
  | { type: 'Put'; namespace: Namespace; key: string; ttl: number | null; at: number }
  | { type: 'Refresh'; namespace: Namespace; key: string }
  | { type: 'Delete'; namespace: Namespace; key: string }
  /** Deletes it only when its time is over. */
  | { type: 'Expire'; namespace: Namespace; key: string };

const MINUTE_MS = 60_000;
/** A refresh that would move the end of an item by less is not worth a commit. */
const LEAST_GAIN_MS = 1_000;

/** `now`: milliseconds since 1970. */
export function decideItem(command: ItemCommand, state: ItemState, now: number): ItemEvent | undefined {
  const { namespace, key } = command;
  const itemId = itemIdOf(namespace, key);
  switch (command.type) {
    case 'Put': {
      const { ttl, at } = command;
      const present = state !== undefined && !isExpired(state, now) ? state : undefined;
      // Clients read milliseconds: a second write of an item is later in those too.
      const updatedAt = Math.max(at, present === undefined ? 0 : nextMillisecond(present.updatedAt));
      const createdAt = present?.createdAt ?? updatedAt;
      const expiresAt = expiryOf(ttl, now);
      return { type: 'ItemPut', data: { itemId, namespace, key, createdAt, updatedAt, ttl, expiresAt } };
    }
    case 'Refresh': {
      if (state === undefined || state.expiresAt === null || isExpired(state, now)) return undefined;
      const expiresAt = expiryOf(state.ttl, now);
      if (expiresAt === null || expiresAt - state.expiresAt < LEAST_GAIN_MS) return undefined;
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
