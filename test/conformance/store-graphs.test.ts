import * as assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, untilMark } from './scene.ts';

const test = suite('conformance: the store inside graphs');

const STORE = { config: config('platform.store.json') };

async function run(s: TestServer, graph: string, configurable: object, input: object = {}): Promise<any> {
  const thread = await newThread(s);
  return s.client.runs.wait(thread, graph, {
    input: { ...input },
    config: { configurable: { ...configurable } },
  });
}

test('client.store.searchItems: given a LangGraph.js graph that keeps notes, when it ran, then the client reads what it wrote, and the other way round', () =>
  withServer(STORE, async (s) => {
    await s.client.store.putItem(['notes', 'client'], 'own', { note: 'buy tea' });
    const { seen } = await run(s, 'remembers', { user: 'ann' }, { note: 'buy tea' });
    const value = {
      note: 'buy tea',
      message: {
        type: 'ai',
        content: 'kept',
        additional_kwargs: {},
        response_metadata: {},
        tool_calls: [],
        invalid_tool_calls: [],
      },
      at: '1970-01-01T00:00:00.000Z',
    };
    assert.deepEqual(seen, {
      value,
      date: true,
      base: true,
      found: ['notes/ann/last', 'notes/client/own'],
      missing: null,
    });
    const { items } = await s.client.store.searchItems(['notes', 'ann']);
    assert.deepEqual(
      items.map(({ key, value }) => [key, value]),
      [['last', value]],
    );
    await run(s, 'remembers', { user: 'bob' }, { note: 'nap' });
    assert.deepEqual((await s.client.store.listNamespaces({ prefix: ['notes'] })).namespaces, [
      ['notes', 'ann'],
      ['notes', 'bob'],
      ['notes', 'client'],
    ]);
  }));

test('client.store.getItem: given a plain function that counts in the store, when it ran, then the count outlives its threads and the server', () =>
  withServer(STORE, async (s) => {
    assert.equal((await run(s, 'counts', {})).calls, 1);
    assert.deepEqual((await s.client.store.getItem(['counts'], 'calls'))?.value, { calls: 1 });
    await s.client.store.putItem(['counts'], 'calls', { calls: 41 });
    await s.restart();
    const last = await run(s, 'counts', {});
    assert.deepEqual(last, { calls: 42, namespaces: [['counts']] });
    assert.deepEqual((await s.client.store.getItem(['counts'], 'calls'))?.value, { calls: 42 });
  }));

test('given a batch of operations, when a graph asks for it, then reads see what was before and the last write of each item counts', () =>
  withServer(STORE, async (s) => {
    await s.client.store.putItem(['b'], 'old', { n: 0 });
    const before = await s.events();
    const operations = [
      { namespace: ['b'], key: 'old', value: { n: 1 } },
      { namespace: ['b'], key: 'old' },
      { namespace: ['b'], key: 'twice', value: { n: 1 } },
      { namespace: ['b'], key: 'twice', value: { n: 2 } },
      { namespace: ['b'], key: 'undone', value: { n: 1 } },
      { namespace: ['b'], key: 'undone', value: null },
      { namespacePrefix: ['b'], filter: { n: { $gte: 0 } } },
      { matchConditions: [{ matchType: 'suffix', path: ['b'] }], limit: 10, offset: 0 },
      { namespace: ['b'], key: 'old', value: { n: 3 } },
    ];
    const { results } = await run(s, 'counts', { operations });
    assert.deepEqual(
      results.map((each: any) =>
        Array.isArray(each) ? each.map((one) => one.key ?? one) : (each?.value ?? null),
      ),
      [null, { n: 0 }, null, null, null, null, ['old'], [['b']], null],
    );
    const { items } = await s.client.store.searchItems(['b']);
    assert.deepEqual(
      items.map(({ key, value }) => [key, value]),
      [
        ['old', { n: 3 }],
        ['twice', { n: 2 }],
      ],
    );
    const writes = (await s.events()).slice(before.length).filter(({ type }) => type.startsWith('Item'));
    assert.equal(new Set(writes.slice(1).map(({ meta }) => meta.commandId)).size, 1, 'one commit');
  }));

test('given a batch of many operations, when a graph asks for it, then reads see what was before all writes, and no commit holds up the others for long', () =>
  withServer({ ...STORE, workers: 1 }, async (s) => {
    await s.client.store.putItem(['m'], 'k0', { n: -1 });
    const before = await s.events();
    const writes = Array.from({ length: 600 }, (_, n) => ({ namespace: ['m'], key: `k${n}`, value: { n } }));
    const operations = [
      ...writes,
      ...writes.slice(0, 120).map(({ namespace, key }) => ({ namespace, key })),
      { namespace: ['m'], key: 'k599', value: { n: 'last' } },
    ];
    const { results } = await run(s, 'counts', { operations });
    assert.equal(results.length, 721);
    const seen = results.map((each: any) => each?.value.n ?? null);
    assert.deepEqual(seen.slice(599, 603), [null, -1, null, null]);
    const values = await Promise.all(
      ['k0', 'k1', 'k599'].map(async (key) => (await s.client.store.getItem(['m'], key))?.value['n']),
    );
    assert.deepEqual(values, [0, 1, 'last']);
    const sizes = new Map<string, number>();
    for (const { type, meta } of (await s.events()).slice(before.length))
      if (type === 'ItemPut') sizes.set(meta.commandId, (sizes.get(meta.commandId) ?? 0) + 1);
    // The first is the graph's own count.
    assert.deepEqual([...sizes.values()], [1, 250, 250, 100]);
  }));

test('given items that are larger together than an answer may be, when a client or a graph asks for all, then both are told, and fewer are found', () =>
  withServer(STORE, async (s) => {
    const value = { text: 'x'.repeat(4_500_000) };
    for (let n = 0; n < 16; n++) await s.client.store.putItem(['large'], `k${n}`, value);
    const search = (limit: number) =>
      s.request('POST', '/store/items/search', { namespace_prefix: ['large'], limit });
    const all = await search(100);
    assert.deepEqual([all.status, /larger than 64 MB together/.test(all.json.detail)], [400, true]);
    assert.equal((await search(2)).json.items.length, 2);
    const two = { namespacePrefix: ['large'], limit: 2 };
    const few = await run(s, 'counts', { operations: [{ namespace: ['large'], key: 'k0' }] });
    assert.equal(few.results[0].value.text.length, 4_500_000);
    const thread = await newThread(s);
    const many = await s.request('POST', `/threads/${thread}/runs/wait`, {
      assistant_id: 'counts',
      config: { configurable: { operations: Array.from({ length: 8 }, () => two) } },
    });
    assert.match(many.json.__error__.message, /larger than 64 MB together/);
  }));

test('given operations that make no sense, when a graph asks for them, then it gets an error that says why, and nothing is written', () =>
  withServer(STORE, async (s) => {
    const good = { namespace: ['g'], key: 'good', value: {} };
    for (const [operation, problem] of [
      [{ namespace: [], key: 'k', value: {} }, /Namespace is required/],
      [{ namespace: ['a.b'], key: 'k', value: {} }, /cannot be empty or contain periods\. Received: a\.b/],
      [{ namespace: [7], key: 'k', value: {} }, /cannot be empty or contain periods/],
      [{ namespace: ['a'], key: '', value: {} }, /key: expected/],
      [{ namespace: ['a'], key: 'k', value: [1] }, /has to be an object/],
      [{ namespacePrefix: ['a'], filter: { n: { $x: 1 } } }, /expected one of \$eq/],
      [{ namespacePrefix: ['a'], limit: -1 }, /limit: expected/],
    ] as const) {
      const thread = await newThread(s);
      const answer = await s.request('POST', `/threads/${thread}/runs/wait`, {
        assistant_id: 'counts',
        input: {},
        config: { configurable: { operations: [good, operation] } },
      });
      assert.match(answer.json.__error__?.message ?? answer.text, problem);
      assert.equal(await s.client.store.getItem(['g'], 'good'), null);
    }
  }));

test('X2 given a run that was cancelled, when its graph goes on and writes to the store, then it is refused and nothing changes', () =>
  withServer(STORE, async (s) => {
    const thread = await newThread(s);
    const gate = join(s.dir, 'gate');
    const { run_id } = (
      await s.request('POST', `/threads/${thread}/runs`, {
        assistant_id: 'late',
        input: {},
        config: { configurable: { gate } },
      })
    ).json;
    await s.until(({ type }) => type === 'ItemPut');
    await s.request('DELETE', `/threads/${thread}`);
    writeFileSync(gate, '');
    await untilMark(`${gate}-refused`, 'rror');
    assert.ok(existsSync(`${gate}-refused`), run_id);
    assert.match(readFileSync(`${gate}-refused`, 'utf8'), /lease|attempt is over/);
    assert.equal(await s.client.store.getItem(['late'], 'done'), null);
    assert.notEqual(await s.client.store.getItem(['late'], 'begun'), null);
  }));

test.run();
