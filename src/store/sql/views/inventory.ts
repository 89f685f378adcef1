/** Names of everything that is there, a page at a time and with nobody's filter: for emptying a server. */
import type { ItemPlace } from './item-queries.ts';
import type { RowReader } from '../../port/rows.ts';

const PAGE = 500;

/** Threads of stateless runs included. */
export const someThreads = (rows: RowReader): string[] =>
  rows
    .all<{ id: string }>('SELECT thread_id AS id FROM threads ORDER BY thread_id LIMIT @limit', {
      limit: PAGE,
    })
    .map(({ id }) => id);

/** All but those that graphs have of their own. */
export async function ownAssistants(rows: RowReader): Promise<string[]> {
  const found = await rows.search<{ id: string }>(
    'SELECT assistant_id AS id FROM assistants WHERE system = 0',
  );
  return found.map(({ id }) => id);
}

export const someCrons = (rows: RowReader): string[] =>
  rows
    .all<{ id: string }>('SELECT cron_id AS id FROM crons ORDER BY cron_id LIMIT @limit', { limit: PAGE })
    .map(({ id }) => id);

/** Expired ones included. */
export const someItems = (rows: RowReader): ItemPlace[] =>
  rows
    .all<{ item_id: string; namespace: string; key: string }>(
      'SELECT item_id, namespace, key FROM items ORDER BY item_id LIMIT @limit',
      { limit: PAGE },
    )
    .map(({ item_id, namespace, key }) => ({
      itemId: item_id,
      namespace: JSON.parse(namespace) as string[],
      key,
    }));
