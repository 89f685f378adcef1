import { z } from 'zod';
import { jsonObject } from '../schemas/common.ts';
import { itemPlace, itemPut, itemSearch, namespaceSearch } from '../schemas/store.ts';
import { json, nothing, problems, type Operation } from './operation.ts';

const time = z.string().meta({ format: 'date-time' });

const item = z
  .object({
    namespace: z.array(z.string()),
    key: z.string(),
    value: jsonObject,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Item' });

const searchItem = item
  .extend({ score: z.number().nullable().meta({ description: 'Likeness to the query; null without one.' }) })
  .meta({ id: 'SearchItem' });

const itemQuery = z.object({
  namespace: z.string().meta({ description: 'Labels joined by periods.' }),
  key: z.string(),
  refresh_ttl: z.boolean().optional(),
});

export const storeOperations: readonly Operation[] = [
  {
    method: 'put',
    path: '/store/items',
    tag: 'store',
    summary: 'Write an item',
    body: itemPut,
    replies: { 204: nothing('Written'), ...problems(400, 404) },
  },
  {
    method: 'get',
    path: '/store/items',
    tag: 'store',
    summary: 'Get an item',
    query: itemQuery,
    replies: { 200: json(item.nullable(), 'The item, null when there is none'), ...problems(400, 404) },
  },
  {
    method: 'delete',
    path: '/store/items',
    tag: 'store',
    summary: 'Delete an item for good',
    description: 'The query parameters `namespace`, joined by periods, and `key` serve instead of a body.',
    body: itemPlace,
    replies: { 204: nothing('Deleted, or not there'), ...problems(400, 404) },
  },
  {
    method: 'post',
    path: '/store/items/search',
    tag: 'store',
    summary: 'Search items below a namespace',
    body: itemSearch,
    replies: { 200: json(z.object({ items: z.array(searchItem) }), 'A page of items'), ...problems(400) },
  },
  {
    method: 'post',
    path: '/store/namespaces',
    tag: 'store',
    summary: 'List namespaces',
    body: namespaceSearch,
    replies: {
      200: json(z.object({ namespaces: z.array(z.array(z.string())) }), 'A page of namespaces'),
      ...problems(400),
    },
  },
];
