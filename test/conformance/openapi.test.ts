import * as assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { PUBLIC_ROUTES } from '../../src/http/access.ts';
import type { Operation } from '../../src/http/endpoint.ts';
import { ENDPOINTS } from '../../src/http/endpoints.ts';
import { exportedThread } from '../isolation/exported.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, say } from './scene.ts';

const test = suite('conformance: the description of the interface');

/** `METHOD /path/{}` of everything that the router answers, without what only passes by. */
function routesOf({ server }: TestServer): string[] {
  const routes = server.app.routes
    .filter(({ method, path }) => method !== 'ALL' || !path.endsWith('*'))
    .map(({ method, path }) => `${method} ${path.replace(/:\w+(\{[^}]*\})?/g, '{}')}`);
  return [...new Set(routes)].sort();
}

const shapeOf = (name: string): string => name.replace(/\{\w+\}/g, '{}');
const nameOf = ({ method, path }: Operation): string => `${method.toUpperCase()} ${path}`;

test('given the router, when its routes are held against the description, then neither has what the other lacks', () =>
  withServer({}, async (s) => {
    assert.deepEqual(routesOf(s), ENDPOINTS.map(nameOf).map(shapeOf).sort());
    const { json } = await s.request('GET', '/openapi.json');
    const described = Object.entries<object>(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(described.map(shapeOf).sort(), routesOf(s));
    for (const name of PUBLIC_ROUTES) assert.ok(described.includes(name), name);
  }));

test('given /openapi.json, when it is validated, then it is OpenAPI 3.1 and every operation is complete', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const { status, json } = await s.request('GET', '/openapi.json');
    assert.equal(status, 200);
    const validator = new Validator();
    assert.deepEqual(await validator.validate(json), { valid: true });
    assert.equal(validator.version, '3.1');
    // Every reference leads somewhere.
    assert.doesNotThrow(() => validator.resolveRefs());
    const ids = new Set<string>();
    for (const [path, methods] of Object.entries<Record<string, any>>(json.paths))
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method} ${path}`;
        ids.add(operation.operationId);
        assert.ok(operation.summary.length > 5 && !operation.summary.endsWith('.'), where);
        const named = (operation.parameters ?? []).filter((each: any) => each.in === 'path');
        assert.equal(named.length, (path.match(/\{/g) ?? []).length, where);
        const open = PUBLIC_ROUTES.has(`${method.toUpperCase()} ${path}`);
        assert.deepEqual(operation.security, open ? [] : undefined, where);
        assert.equal(operation.responses[401] === undefined, open, where);
        assert.ok(operation.responses[422].content['application/json'], where);
      }
    assert.equal(ids.size, ENDPOINTS.length);
    assert.equal(json.paths['/runs'].post.requestBody.required, true);
    assert.equal(json.paths['/threads'].post.requestBody.required, false);
    const { properties } = json.paths['/threads'].post.requestBody.content['application/json'].schema;
    assert.equal(properties.thread_id.format, 'uuid');
    assert.deepEqual(properties.metadata.type, ['object', 'null']);
    const query = json.paths['/threads'].get.parameters.find((each: any) => each.name === 'metadata');
    assert.deepEqual(query.content['application/json'].schema, {
      type: 'object',
      additionalProperties: true,
    });
  }));

test('the document shows defaults, values and bounds beside the type of each member', () =>
  withServer({}, async (s) => {
    const { json } = await s.request('GET', '/openapi.json');
    const bodyOf = (path: string) => json.paths[path].post.requestBody.content['application/json'].schema;
    const search = bodyOf('/threads/search').properties;
    assert.deepEqual(search.limit, { type: ['integer', 'null'], minimum: 1, maximum: 1000, default: 10 });
    const orders = { type: ['string', 'null'], enum: ['asc', 'desc', null], default: 'desc' };
    assert.deepEqual(search.sort_order, orders);
    assert.equal(bodyOf('/threads').properties.if_exists.default, 'raise');
    assert.equal(bodyOf('/threads/{thread_id}/history').properties.limit.default, 1);
    assert.equal(bodyOf('/runs').properties.multitask_strategy.default, 'enqueue');
    const run = {
      ...{ stream_resumable: false, if_not_exists: 'reject', durability: 'async', checkpoint_during: false },
      on_completion: 'delete',
    };
    for (const path of ['/runs', '/threads/{thread_id}/runs', '/threads/{thread_id}/runs/stream'])
      for (const [field, value] of Object.entries(run))
        assert.equal(bodyOf(path).properties[field].default, value, `${path} ${field}`);
    for (const path of ['/runs/crons', '/threads/{thread_id}/runs/crons'])
      assert.deepEqual(bodyOf(path).properties.stream_mode.default, ['values']);
    const query = json.paths['/webhooks'].get.parameters.find(({ name }: any) => name === 'limit');
    assert.deepEqual(query.schema, { type: 'integer', minimum: 1, maximum: 100, default: 10 });
  }));

/** Operations whose good replies were held against the description. */
const described = new Set<string>();

/** The reply is what the description says: it parses, and nothing of it is left over. */
async function assertDescribed(s: TestServer, name: string, path: string, body?: unknown): Promise<any> {
  const [method = ''] = name.split(' ');
  const { status, headers, json, text } = await s.request(method, path, body);
  const operation = ENDPOINTS.find((each) => nameOf(each) === name);
  const common: Record<number, z.ZodType> = { 422: z.strictObject({ detail: z.string() }) };
  const reply = operation?.replies[status];
  assert.ok(reply ?? common[status], `${name} answered ${status}: ${text}`);
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const schema = reply?.content?.[type] ?? common[status];
  if (schema === undefined) assert.equal(text, '', name);
  else {
    const said: unknown = type === 'application/json' ? json : text;
    assert.deepEqual(schema.parse(said), said, name);
  }
  if (status < 300) described.add(name);
  for (const header of Object.keys(reply?.headers ?? {}))
    if (header !== 'X-Pagination-Next') assert.ok(headers.get(header), `${name} lacks ${header}`);
  return json;
}

test('given replies of all resources, when they are held against their schemas, then nothing is missing or left over', () =>
  withServer({}, async (s) => {
    for (const path of ['/', '/ok', '/info', '/docs', '/metrics', '/openapi.json'])
      await assertDescribed(s, `GET ${path}`, path);
    await assertDescribed(s, 'GET /assistants/{assistant_id}', '/assistants/echo');
    await assertDescribed(s, 'GET /assistants/{assistant_id}', '/assistants/none');
    await assertDescribed(s, 'POST /assistants/search', '/assistants/search', {});
    await assertDescribed(s, 'POST /assistants/search', '/assistants/search', { limit: 0 });
    await assertDescribed(s, 'POST /assistants/count', '/assistants/count', {});
    const made = await assertDescribed(s, 'POST /assistants', '/assistants', { graph_id: 'echo' });
    const own = '/assistants/{assistant_id}';
    const ownUrl = `/assistants/${made.assistant_id}`;
    await assertDescribed(s, `PATCH ${own}`, ownUrl, {});
    for (const [path, asked] of [
      ['graph', 'graph?xray=1'],
      ['subgraphs', 'subgraphs?recurse=true'],
      ['subgraphs/{namespace}', 'subgraphs/x'],
      ['schemas', 'schemas'],
    ])
      await assertDescribed(s, `GET ${own}/${path}`, `${ownUrl}/${asked}`);
    await assertDescribed(s, `POST ${own}/versions`, `${ownUrl}/versions`);
    await assertDescribed(s, `POST ${own}/latest`, `${ownUrl}/latest`, { version: 1 });
    await assertDescribed(s, `DELETE ${own}`, ownUrl);
    await assertDescribed(s, `DELETE ${own}`, ownUrl);
    const { thread_id } = await assertDescribed(s, 'POST /threads', '/threads', { metadata: { a: 1 } });
    await assertDescribed(s, 'POST /threads', '/threads', { thread_id });
    const at = '/threads/{thread_id}';
    const url = `/threads/${thread_id}`;
    await assertDescribed(s, `GET ${at}/state`, `${url}/state`);
    for (const graph of ['approve', 'agent', 'breaks']) {
      const body = { assistant_id: graph, input: say('hi') };
      const run = await assertDescribed(s, `POST ${at}/runs`, `${url}/runs`, body);
      await assertDescribed(s, `GET ${at}/runs/{run_id}/join`, `${url}/runs/${run.run_id}/join`);
      await assertDescribed(s, `GET ${at}/runs/{run_id}`, `${url}/runs/${run.run_id}`);
      await assertDescribed(s, `GET ${at}`, url);
      await assertDescribed(s, `GET ${at}/state`, `${url}/state?subgraphs=true`);
      await assertDescribed(
        s,
        `POST ${at}/runs/{run_id}/cancel`,
        `${url}/runs/${run.run_id}/cancel?wait=true`,
      );
    }
    await assertDescribed(s, `POST ${at}/runs/wait`, `${url}/runs/wait`, { assistant_id: 'echo' });
    await assertDescribed(s, `GET ${at}/runs`, `${url}/runs`);
    await assertDescribed(s, 'POST /runs/wait', '/runs/wait', { assistant_id: 'echo', input: say('hi') });
    await assertDescribed(s, 'POST /runs', '/runs', { assistant_id: 'echo', input: say('hi') });
    await assertDescribed(s, 'POST /runs', '/runs', {});
    await assertDescribed(s, 'POST /runs/batch', '/runs/batch', [{ assistant_id: 'echo', input: say('hi') }]);
    await assertDescribed(s, 'POST /runs/cancel', '/runs/cancel', { status: 'all' });
    const cron = { schedule: '0 0 1 1 *', assistant_id: 'echo' };
    const { cron_id: cronId } = await assertDescribed(s, 'POST /runs/crons', '/runs/crons', cron);
    await assertDescribed(s, `POST ${at}/runs/crons`, `${url}/runs/crons`, cron);
    await assertDescribed(s, 'POST /runs/crons/search', '/runs/crons/search', {});
    await assertDescribed(s, 'POST /runs/crons/count', '/runs/crons/count', {});
    const one = '/runs/crons/{cron_id}';
    await assertDescribed(s, `GET ${one}`, `/runs/crons/${cronId}`);
    await assertDescribed(s, `PATCH ${one}`, `/runs/crons/${cronId}`, { enabled: false });
    await assertDescribed(s, `DELETE ${one}`, `/runs/crons/${cronId}`);
    const hooked = { assistant_id: 'echo', input: say('hi'), webhook: `${s.url}/ok` };
    await assertDescribed(s, 'POST /runs/wait', '/runs/wait', hooked);
    await s.until(({ type }) => type === 'WebhookAttemptFailed');
    const [hook] = await assertDescribed(s, 'GET /webhooks', '/webhooks?limit=1');
    for (const id of [hook.webhook_id, MISSING]) {
      await assertDescribed(s, 'GET /webhooks/{webhook_id}', `/webhooks/${id}`);
      await assertDescribed(s, 'POST /webhooks/{webhook_id}/redeliver', `/webhooks/${id}/redeliver`);
    }
    await assertDescribed(s, 'POST /webhooks/redeliver', '/webhooks/redeliver', { since: '2026-01-01' });
    await assertDescribed(s, 'POST /webhooks/redeliver', '/webhooks/redeliver', {});
    const item = { namespace: ['a'], key: 'k', value: { n: 1 } };
    await assertDescribed(s, 'PUT /store/items', '/store/items', item);
    await assertDescribed(s, 'GET /store/items', '/store/items?namespace=a&key=k');
    await assertDescribed(s, 'GET /store/items', '/store/items?namespace=a&key=none');
    await assertDescribed(s, 'POST /store/items/search', '/store/items/search', {});
    await assertDescribed(s, 'POST /store/namespaces', '/store/namespaces', {});
    await assertDescribed(s, 'DELETE /store/items', '/store/items', item);
    await assertDescribed(s, 'GET /threads', '/threads?limit=1');
    await assertDescribed(s, 'POST /threads/search', '/threads/search', {});
    await assertDescribed(s, 'GET /metrics', '/metrics?format=json');
    await assertDescribed(s, 'POST /threads/count', '/threads/count', {});
    await assertDescribed(s, `GET ${at}/storage`, `${url}/storage`);
    await assertDescribed(s, `GET ${at}/export`, `${url}/export`);
    await assertDescribed(s, 'POST /threads/import', '/threads/import', exportedThread(MISSING, {}));
    await assertDescribed(s, 'POST /threads/import', '/threads/import', exportedThread(MISSING, {}));
    await assertDescribed(s, `POST ${at}/copy`, `${url}/copy`);
    const { checkpoint } = await assertDescribed(s, `POST ${at}/state`, `${url}/state`, {
      values: { messages: [] },
    });
    const { checkpoint_id: id } = checkpoint;
    await assertDescribed(s, `PATCH ${at}/state`, `${url}/state`, { metadata: { c: 3 } });
    await assertDescribed(s, `GET ${at}/state/{checkpoint_id}`, `${url}/state/${id}`);
    await assertDescribed(s, `POST ${at}/state/checkpoint`, `${url}/state/checkpoint`, { checkpoint });
    await assertDescribed(s, `GET ${at}/history`, `${url}/history?limit=3`);
    await assertDescribed(s, `POST ${at}/history`, `${url}/history`, { limit: 3 });
    await assertDescribed(s, `GET ${at}/events`, `${url}/events`);
    await assertDescribed(s, `GET ${at}/state`, `${url}/state?version=5&from=1`);
    const { json: last } = await s.request('GET', `${url}/runs?limit=1`);
    const run = last[0].run_id;
    await assertDescribed(s, 'GET /runs/{run_id}/join', `/runs/${run}/join`);
    await assertDescribed(s, `GET ${at}/runs/{run_id}/report`, `${url}/runs/${run}/report`);
    await assertDescribed(s, `GET ${at}/runs/{run_id}/calls`, `${url}/runs/${run}/calls`);
    const exchanges = `${at}/runs/{run_id}/exchanges`;
    await assertDescribed(s, `GET ${exchanges}`, `${url}/runs/${run}/exchanges`);
    await assertDescribed(s, `GET ${exchanges}/{n}`, `${url}/runs/${run}/exchanges/1`);
    await assertDescribed(s, 'GET /runs/diff', `/runs/diff?a=${run}&b=${run}`);
    await assertDescribed(s, 'GET /server/verdicts', '/server/verdicts');
    await assertDescribed(s, 'GET /server', '/server');
    await assertDescribed(s, 'POST /opened', '/opened', exportedThread(MISSING, {}));
    await assertDescribed(s, 'GET /runs', '/runs');
    await assertDescribed(s, `DELETE ${at}/runs/{run_id}`, `${url}/runs/${run}`);
    await assertDescribed(s, `POST ${at}/commands`, `${url}/commands`, { id: 1, method: 'state.get' });
    await assertDescribed(s, 'POST /threads/prune', '/threads/prune', { thread_ids: [MISSING] });
    await assertDescribed(s, `PATCH ${at}`, url, { metadata: { b: 2 } });
    await assertDescribed(s, `DELETE ${at}`, url);
    await assertDescribed(s, `GET ${at}`, `/threads/${MISSING}`);
    // Streams are text to this description, and sockets have no reply; nothing is recorded here.
    const missed = ENDPOINTS.filter(
      ({ replies }) =>
        replies[200] === undefined || replies[200].content?.['text/event-stream'] === undefined,
    ).map(nameOf);
    assert.deepEqual(
      missed.filter((name) => !described.has(name)),
      [`GET ${exchanges}/{n}`, 'GET /threads/{thread_id}/stream/events'],
    );
  }));

test.run();
