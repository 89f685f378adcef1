/**
 * Routes of the item store.
 *
 * A2 A handler's filter is matched against `{...value, namespace, key}`, inside the query. A3 For a missing item the
 * filter is matched against namespace and key alone: a mismatch replies like the item of another user.
 */
import { Hono, type Context } from 'hono';
import { StoreProblem } from '../../actors/store.ts';
import { matchesFilter, type Filter } from '../../auth/filters.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { NamespaceMatch } from '../../projections/namespace-queries.ts';
import { authorise } from '../access.ts';
import type { Env, ServerContext } from '../context.ts';
import { readQuery } from '../query.ts';
import { noContent, noItem, notAuthorized, storeRefused } from '../replies.ts';
import { check } from '../schemas/common.ts';
import {
  checkLabels,
  checkNamespace,
  checkRoot,
  itemPlace,
  itemPut,
  itemSearch,
  namespaceSearch,
} from '../schemas/store.ts';
import { toItem, toSearchItem } from '../serializers.ts';

export function storeRoutes(context: ServerContext): Hono<Env> {
  const app = new Hono<Env>();
  const { store } = context;

  app.put('/store/items', async (c) => {
    const body = check(itemPut, c.var.body ?? {});
    checkRoot(body.namespace);
    const { namespace, key, value } = body;
    const asked = { namespace, key, value, index: body.index ?? null, ttl: body.ttl ?? null };
    const granted = await authorise(context, c.var.actor, 'store:put', asked);
    const item = check(itemPut, { ...granted.value, ttl: granted.value['ttl'] ?? body.ttl });
    checkRoot(item.namespace);
    // The new item is checked before the stored one is read, so that a 403 reveals nothing about it.
    if (!passes(item.value, item.namespace, item.key, granted.filter)) throw notAuthorized();
    const put = { kind: 'put', ...item } as const;
    const written = await store.write([put], { access: granted.filter }).catch(translate);
    if (!written.ok) throw noItem();
    return noContent();
  });

  app.get('/store/items', async (c) => {
    const query = readQuery(new URL(c.req.url), { key: 'text', namespace: 'text', refresh_ttl: 'boolean' });
    const asked = (query['refresh_ttl'] ?? null) as boolean | null;
    const { place, value, filter } = await locate(c, 'store:get', fromQuery(query), { refresh_ttl: asked });
    const { namespace, key } = place;
    const refresh = value['refresh_ttl'] === null ? undefined : Boolean(value['refresh_ttl']);
    const item = await store.get(namespace, key, { access: filter, refresh });
    if (item === undefined && !passes({}, namespace, key, filter)) throw noItem();
    return c.json(item === undefined ? null : toItem(item));
  });

  app.delete('/store/items', async (c) => {
    const query = readQuery(new URL(c.req.url), { key: 'text', namespace: 'text' });
    const given = c.var.body ?? fromQuery(query);
    const { place, filter } = await locate(c, 'store:delete', given);
    const { namespace, key } = place;
    const written = await store.write([{ kind: 'delete', namespace, key }], { access: filter });
    if (!written.ok) throw noItem();
    if (written.changed === 0 && !passes({}, namespace, key, filter)) throw noItem();
    return noContent();
  });

  app.post('/store/items/search', async (c) => {
    const body = check(itemSearch, c.var.body ?? {});
    checkLabels(body.namespace_prefix);
    const { namespace_prefix: namespace, filter: match, limit, offset, query } = body;
    const refresh_ttl = body.refresh_ttl ?? null;
    const asked = { namespace, filter: match ?? null, limit, offset, query: query ?? null, refresh_ttl };
    const granted = await authorise(context, c.var.actor, 'store:search', asked);
    const search = check(itemSearch, { ...granted.value, namespace_prefix: granted.value['namespace'] });
    checkLabels(search.namespace_prefix);
    const found = await store
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
    return c.json({ items: found.map(toSearchItem) });
  });

  app.post('/store/namespaces', async (c) => {
    const body = check(namespaceSearch, c.var.body ?? {});
    for (const labels of [body.prefix, body.suffix]) checkLabels(labels ?? []);
    const granted = await authorise(context, c.var.actor, 'store:list_namespaces', {
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
    const namespaces = await store
      .namespaces({ matches, maxDepth, limit, offset }, { access: granted.filter })
      .catch(translate);
    return c.json({ namespaces: namespaces.map((namespace) => [...namespace]) });
  });

  /** The requested namespace and key after the handler's changes, with the handler's payload and filter. */
  async function locate(
    c: Context<Env>,
    event: 'store:get' | 'store:delete',
    given: unknown,
    more: JsonObject = {},
  ) {
    const asked = check(itemPlace, given);
    checkNamespace(asked.namespace);
    const { value, filter } = await authorise(context, c.var.actor, event, { ...asked, ...more });
    const place = check(itemPlace, value);
    checkNamespace(place.namespace);
    return { place, value, filter };
  }

  return app;
}

/** Parses namespace and key from a query, where labels are joined by periods. */
function fromQuery({ key, namespace }: JsonObject): object {
  const text = typeof namespace === 'string' ? namespace : '';
  return { key, namespace: text === '' ? [] : text.split('.') };
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
