/** Names of everything that is there, a page at a time and without a filter: for emptying a server. */
import type { InventoryViews } from '../../port/views/views.ts';
import type { Ask, Scan } from '../ask.ts';
import { COUNTS } from './counts.ts';
import { toPlace, type PlaceRow } from './item-record.ts';

const PAGE_ROWS = 500;

export function inventoryViews(ask: Ask): InventoryViews {
  const page = async (sql: string): Promise<string[]> =>
    (await ask.all<{ id: string }>(`${sql} LIMIT @limit`, { limit: PAGE_ROWS })).map(({ id }) => id);
  return {
    async threads() {
      const found = await page('SELECT thread_id AS id FROM threads ORDER BY thread_id');
      if (found.length > 0) return found;
      // No other thread is left.
      return page('SELECT DISTINCT thread_id AS id FROM runs ORDER BY thread_id');
    },
    crons: () => page('SELECT cron_id AS id FROM crons ORDER BY cron_id'),
    async items() {
      const sql = 'SELECT item_id, namespace, key FROM items ORDER BY item_id LIMIT @limit';
      return (await ask.all<PlaceRow>(sql, { limit: PAGE_ROWS })).map(toPlace);
    },
    assistants: () => ask.scan(ASSISTANTS),
    counts: (now) => ask.scan(COUNTS, now),
  };
}

export const ASSISTANTS: Scan<[], string[]> = {
  name: 'inventory.assistants',
  async answer(ask) {
    const found = await ask.all<{ id: string }>('SELECT assistant_id AS id FROM assistants WHERE system = 0');
    return found.map(({ id }) => id);
  },
};
