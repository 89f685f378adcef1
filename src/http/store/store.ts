/**
 * Endpoints of the item store.
 *
 * A2 A handler's filter is matched against `{...value, namespace, key}`, inside the query. A3 For a missing item the
 * filter is matched against namespace and key alone: a mismatch replies like the item of another user.
 */
import { z } from 'zod';
import { StoreProblem } from '../../actors/store.ts';
import type { Actor } from '../../auth/authenticate.ts';
import { matchesFilter, type Filter } from '../../kernel/filter.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { authorise } from '../access.ts';
import { check } from '../check.ts';
import type { ServerContext } from '../context.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { json, nothing, problems } from '../openapi/descriptions.ts';
import { jsonReply, noContent, noItem, notAuthorized, storeRefused } from '../replies.ts';
import {
  checkLabels,
  checkNamespace,
  checkRoot,
  itemKey,
  itemKeyQuery,
  itemPut,
  itemQuery,
  itemSearch,
  namespaceSearch,
} from './schemas.ts';
import { item, searchItem, toItem, toSearchItem } from './shapes.ts';
import type { NamespaceMatch } from '../../store/port/views/items.ts';

export const storeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'put',
    path: '/store/items',
    tag: 'store',
    summary: 'Write an item',
    body: itemPut,
    replies: { 204: nothing('Written'), ...problems(400, 404) },
    async handle({ context, actor, body }) {
      checkRoot(body.namespace);
      const { namespace, key, value } = body;
      const asked = { namespace, key, value, index: body.index ?? null, ttl: body.ttl ?? null };
      const granted = await authorise(context, actor, 'store:put', asked);
      const put = check(itemPut, { ...granted.value, ttl: granted.value['ttl'] ?? body.ttl });
      checkRoot(put.namespace);
      // The new item is checked before the stored one is read, so that a 403 reveals nothing about it.
      if (!passes(put.value, put.namespace, put.key, granted.filter)) throw notAuthorized();
      const written = await context.store
        .write([{ kind: 'put', ...put }], { access: granted.filter, by: actor.user?.identity })
        .catch(translate);
      if (!written.ok) throw noItem();
      return noContent();
    },
  }),
  endpoint({
    method: 'get',
    path: '/store/items',
    tag: 'store',
    summary: 'Get an item',
    query: itemQuery,
    replies: { 200: json(item.nullable(), 'The item, null when there is none'), ...problems(400, 404) },
    async handle({ context, actor, query }) {
      const { target, value, filter } = await locate(context, actor, 'store:get', query, {
        refresh_ttl: query.refresh_ttl ?? null,
      });
      const { namespace, key } = target;
      const refresh = value['refresh_ttl'] === null ? undefined : Boolean(value['refresh_ttl']);
      const found = await context.store.get(namespace, key, { access: filter, refresh });
      if (found === undefined && !passes({}, namespace, key, filter)) throw noItem();
      return jsonReply(found === undefined ? null : toItem(found));
    },
  }),
  endpoint({
    method: 'delete',
    path: '/store/items',
    tag: 'store',
    summary: 'Delete an item for good',
    description: 'The query may name the item instead of a body.',
    query: itemKeyQuery,
    describedBody: itemKey.optional(),
    replies: { 204: nothing('Deleted, or not there'), ...problems(400, 404) },
    async handle({ context, actor, query, c }) {
      const { target, filter } = await locate(context, actor, 'store:delete', c.var.body ?? query);
      const { namespace, key } = target;
      const written = await context.store.write([{ kind: 'delete', namespace, key }], {
        access: filter,
        by: actor.user?.identity,
      });
      if (!written.ok) throw noItem();
      if (written.changed === 0 && !passes({}, namespace, key, filter)) throw noItem();
      return noContent();
    },
  }),
  endpoint({
    method: 'post',
    path: '/store/items/search',
    changes: false,
    tag: 'store',
    summary: 'Search items below a namespace',
    body: itemSearch,
    replies: { 200: json(z.object({ items: z.array(searchItem) }), 'A page of items'), ...problems(400) },
    async handle({ context, actor, body }) {
      checkLabels(body.namespace_prefix);
      const { namespace_prefix: namespace, filter: match, limit, offset, query } = body;
      const refresh_ttl = body.refresh_ttl ?? null;
      const asked = { namespace, filter: match ?? null, limit, offset, query: query ?? null, refresh_ttl };
      const granted = await authorise(context, actor, 'store:search', asked);
      const search = check(itemSearch, { ...granted.value, namespace_prefix: granted.value['namespace'] });
      checkLabels(search.namespace_prefix);
      const found = await context.store
        .search(
          {
            prefix: search.namespace_prefix,
            match: search.filter,
            query: search.query,
            limit: search.limit,
            offset: search.offset,
          },
          { access: granted.filter, refresh: search.refresh_ttl },
        )
        .catch(translate);
      return jsonReply({ items: found.map(toSearchItem) });
    },
  }),
  endpoint({
    method: 'post',
    path: '/store/namespaces',
    changes: false,
    tag: 'store',
    summary: 'List namespaces',
    body: namespaceSearch,
    replies: {
      200: json(z.object({ namespaces: z.array(z.array(z.string())) }), 'A page of namespaces'),
      ...problems(400),
    },
    async handle({ context, actor, body }) {
      for (const labels of [body.prefix, body.suffix]) checkLabels(labels ?? []);
      const granted = await authorise(context, actor, 'store:list_namespaces', {
        namespace: body.prefix ?? null,
        suffix: body.suffix ?? null,
        max_depth: body.max_depth ?? null,
        limit: body.limit,
        offset: body.offset,
      });
      const listing = check(namespaceSearch, { ...granted.value, prefix: granted.value['namespace'] });
      const matches: NamespaceMatch[] = [];
      if (listing.prefix !== undefined) matches.push({ at: 'prefix', path: checkLabels(listing.prefix) });
      if (listing.suffix !== undefined) matches.push({ at: 'suffix', path: checkLabels(listing.suffix) });
      const { max_depth: maxDepth, limit, offset } = listing;
      const namespaces = await context.store
        .namespaces({ matches, maxDepth, limit, offset }, { access: granted.filter })
        .catch(translate);
      return jsonReply({ namespaces: namespaces.map((namespace) => [...namespace]) });
    },
  }),
];

/** The requested namespace and key after the handler's changes, with the handler's payload and filter. */
async function locate(
  context: ServerContext,
  actor: Actor,
  event: 'store:get' | 'store:delete',
  given: unknown,
  more: JsonObject = {},
) {
  const { namespace, key } = check(itemKey, given);
  checkNamespace(namespace);
  const { value, filter } = await authorise(context, actor, event, { namespace, key, ...more });
  const target = check(itemKey, value);
  checkNamespace(target.namespace);
  return { target, value, filter };
}

const passes = (
  value: JsonObject,
  namespace: readonly string[],
  key: string,
  filter: Filter | undefined,
): boolean => filter === undefined || matchesFilter({ ...value, namespace: [...namespace], key }, filter);

function translate(error: unknown): never {
  throw error instanceof StoreProblem ? storeRefused(error) : error;
}
