/** Items of the store as clients see them. */
import { z } from 'zod';
import type { FoundItem } from '../../actors/store.ts';
import { microsToTimestamp } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { jsonObject } from '../fields.ts';
import { time } from '../reply-fields.ts';
import { valueOf } from '../../store/port/views/items.ts';

export const item = z
  .object({
    namespace: z.array(z.string()),
    key: z.string(),
    value: jsonObject,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Item' });

export const searchItem = item
  .extend({
    score: z.number().nullable().meta({ description: 'Similarity to the query; null without a query.' }),
  })
  .meta({ id: 'SearchItem' });

export function toItem(item: FoundItem): JsonObject {
  return {
    namespace: [...item.namespace],
    key: item.key,
    value: valueOf(item),
    created_at: microsToTimestamp(item.createdAt),
    updated_at: microsToTimestamp(item.updatedAt),
  };
}

/** `score` is null when the search did not rank. */
export const toSearchItem = (item: FoundItem): JsonObject => ({ ...toItem(item), score: item.score ?? null });
