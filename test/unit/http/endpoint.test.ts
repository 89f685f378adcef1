import assert from 'node:assert/strict';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Env, ServerContext } from '../../../src/http/context.ts';
import { endpoint, type Endpoint } from '../../../src/http/endpoint.ts';
import { json as jsonValue, limit, list, optional, uuid } from '../../../src/http/fields.ts';
import { json } from '../../../src/http/openapi/descriptions.ts';
import { queryKinds } from '../../../src/http/query.ts';
import { HttpProblem, jsonReply, problemReply } from '../../../src/http/replies.ts';
import { addEndpoints } from '../../../src/http/router.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/endpoint');

const ID = 'AAAAAAAA-0000-4000-8000-000000000000';
const described = {
  tag: 'system',
  summary: 'A test',
  replies: { 200: json(z.unknown(), 'Anything') },
} as const;

/** An app whose parsed body is `body`. None of these endpoints uses the server. */
function open(endpoints: readonly Endpoint[], body?: Env['Variables']['body']) {
  const app = new Hono<Env>();
  app.use('*', async (c, next) => {
    c.set('body', body);
    await next();
  });
  addEndpoints(app, {} as ServerContext, endpoints, (_, answer) => answer);
  app.onError((error) => {
    if (error instanceof HttpProblem) return problemReply(error);
    throw error;
  });
  return async (path: string): Promise<unknown> => (await app.request(`http://x${path}`)).json();
}

test('path, query and body are checked in this order before the handler runs', async () => {
  const things = endpoint({
    ...described,
    ...{ method: 'get', path: '/things/{thing_id}' },
    query: z.object({ limit: limit(10) }),
    body: z.object({ name: z.string('expected a string') }),
    handle: ({ params, query, body }) => jsonReply({ ...params, ...query, ...body }),
  });
  const ask = open([things], { name: 1 });
  assert.deepEqual(await ask('/things/x?limit=0'), { detail: 'thing_id: expected a UUID' });
  assert.deepEqual(await ask(`/things/${ID}?limit=0`), {
    detail: 'limit: expected an integer from 1 to 1000',
  });
  assert.deepEqual(await ask(`/things/${ID}`), { detail: 'name: expected a string' });
  const answer = await open([things], { name: 'a' })(`/things/${ID}`);
  assert.deepEqual(answer, { thing_id: ID.toLowerCase(), limit: 10, name: 'a' });
});

test('an empty body stands for an empty object, or for an empty list', async () => {
  for (const [body, expected] of [
    [z.object({ a: optional(z.string()) }), {}],
    [z.array(z.string()), []],
  ] as const) {
    const ask = open([
      endpoint({
        ...described,
        ...{ method: 'get', path: '/things' },
        body,
        handle: (c) => jsonReply(c.body),
      }),
    ]);
    assert.deepEqual(await ask('/things'), expected);
  }
});

test('a query is read as its schema says: text, numbers, flags, lists and JSON', async () => {
  const query = z.object({
    ...{ id: optional(uuid), size: limit(1), flag: optional(z.boolean()), some: optional(jsonValue) },
    names: optional(list(z.string(), 10, 'expected names')),
    spaces: optional(list(z.string(), 10, 'expected names').register(queryKinds, { kind: 'texts' })),
    before: optional(z.union([z.string(), z.object({})])),
  });
  const ask = open([
    endpoint({
      ...described,
      ...{ method: 'get', path: '/things', query },
      handle: (request) => jsonReply(request.query),
    }),
  ]);
  assert.deepEqual(
    await ask(`/things?id=${ID}&size=5&flag=yes&some={"a":1}&names=a,b&names=c&spaces=a,b&before=7`),
    {
      ...{ id: ID.toLowerCase(), size: 5, flag: true, some: { a: 1 } },
      ...{ names: ['a', 'b', 'c'], spaces: ['a,b'], before: '7' },
    },
  );
});

test('a literal segment precedes a parameter, in whatever order the endpoints are listed', async () => {
  const at = (path: string) =>
    endpoint({ ...described, method: 'get', path, rawParams: [], handle: () => jsonReply(path) });
  const paths = ['/a/{name}/c', '/a/b/{name}', '/a/{name}', '/a/b', '/a/b/c'];
  for (const listed of [paths, paths.toReversed()]) {
    const ask = open(listed.map(at));
    assert.equal(await ask('/a/b'), '/a/b');
    assert.equal(await ask('/a/x'), '/a/{name}');
    assert.equal(await ask('/a/b/c'), '/a/b/c');
    assert.equal(await ask('/a/b/x'), '/a/b/{name}');
    assert.equal(await ask('/a/x/c'), '/a/{name}/c');
  }
});

test.run();
