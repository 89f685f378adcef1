import { matchesFilter, type Filter } from '../../../kernel/filter.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { fromStored } from '../../../kernel/stored-json.ts';
import type { Row } from '../../port/rows.ts';
import type { ItemPlace } from '../../port/views/items.ts';

export interface PlaceRow extends Row {
  item_id: string;
  namespace: string;
  key: string;
}

export const VISIBLE = '(expires_at IS NULL OR expires_at > @now)';

export const toPlace = ({ item_id, namespace, key }: PlaceRow): ItemPlace => ({
  itemId: item_id,
  namespace: fromStored(namespace, 'namespace of item', item_id) as string[],
  key,
});

/** A2 The filter sees the value with the item's `namespace` and `key` in it. */
export function isAllowed(row: PlaceRow & { data: string | null }, access: Filter | undefined): boolean {
  if (access === undefined || access.length === 0) return true;
  if (row.data === null) return false;
  const value = fromStored(row.data, 'value of item', row.item_id) as JsonObject;
  const { namespace, key } = toPlace(row);
  return matchesFilter({ ...value, namespace: [...namespace], key }, access);
}
