/** Rows of the store's items, without their values: where an item is, and until when. */
import type { ItemEvent } from '../../../item/events.ts';
import { toPath, toReversedPath } from '../../../item/namespace.ts';
import type { Recorded } from '../../port/events.ts';
import type { RowWrite } from '../../port/rows.ts';

export function projectItem(event: Recorded<ItemEvent>): readonly RowWrite[] {
  if (event.type === 'ItemDeleted')
    return [{ op: 'drop', table: 'items', key: { item_id: event.data.itemId } }];
  const { itemId, namespace, key, createdAt, updatedAt, ttl, expiresAt } = event.data;
  return [
    {
      op: 'put',
      table: 'items',
      row: {
        item_id: itemId,
        namespace: JSON.stringify(namespace),
        key,
        path: toPath(namespace),
        reversed: toReversedPath(namespace),
        created_at: createdAt,
        updated_at: updatedAt,
        ttl,
        expires_at: expiresAt,
      },
    },
  ];
}
