import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/config.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config } from './scene.ts';

const test = suite('conformance: search by meaning');

const STORE = { config: config('platform.store.json') };

const put = (s: TestServer, key: string, value: Record<string, unknown>, more: object = {}) =>
  s.request('PUT', '/store/items', { namespace: ['docs'], key, value, ...more });
const find = async (s: TestServer, query: string, more: object = {}): Promise<[string, number][]> => {
  const { status, json, text } = await s.request('POST', '/store/items/search', { query, ...more });
  assert.equal(status, 200, text);
  return json.items.map((item: any) => [item.key, Math.round(item.score * 1000) / 1000]);
};

test('given items, when they are searched by meaning, then the likest comes first with its cosine, in pages, also after a restart', () =>
  withServer(STORE, async (s) => {
    await put(s, 'pets', { text: 'cat and dog' });
    await put(s, 'cats', { text: 'cat, cat, cat' });
    await put(s, 'drinks', { text: 'tea' });
    await put(s, 'wet', { text: 'rain', also: 'a dog' });
    const half = Math.round(Math.SQRT1_2 * 1000) / 1000;
    const wanted = [
      ['cats', 1],
      ['pets', half],
    ];
    assert.deepEqual((await find(s, 'cat')).slice(0, 2), wanted);
    await s.restart();
    assert.deepEqual((await find(s, 'cat')).slice(0, 2), wanted);
    assert.deepEqual(await find(s, 'cat', { limit: 1, offset: 1 }), [['pets', half]]);
    assert.deepEqual((await find(s, 'dog', { limit: 2 })).map(([key]) => key).sort(), ['pets', 'wet']);
    assert.deepEqual(await find(s, 'dog', { filter: { also: 'a dog' } }), [['wet', half]]);
    assert.deepEqual(await find(s, 'dog', { namespace_prefix: ['other'] }), []);
    const { items } = await s.client.store.searchItems(['docs'], { query: 'tea', limit: 1 });
    assert.deepEqual([items[0]!.key, items[0]!.score], ['drinks', 1]);
    const unranked = await s.client.store.searchItems(['docs']);
    assert.ok(unranked.items.every(({ score }) => score === null));
  }));

test('given items that say what to index, when they are searched, then only those parts are found, and what is overwritten or deleted no more', () =>
  withServer(STORE, async (s) => {
    await put(s, 'none', { text: 'cat' }, { index: false });
    await put(s, 'title', { title: 'dog', text: 'cat' }, { index: ['title'] });
    await put(
      s,
      'deep',
      { list: [{ word: 'tea' }, { word: 'cat' }], other: 'dog' },
      { index: ['list[*].word'] },
    );
    await put(s, 'last', { list: ['dog', 'tea', 'rain'] }, { index: ['list[-1]', 'missing.path'] });
    assert.deepEqual(await find(s, 'cat'), [
      ['deep', 1],
      ['last', 0],
      ['title', 0],
    ]);
    assert.deepEqual((await find(s, 'tea'))[0], ['deep', 1]);
    assert.deepEqual((await find(s, 'rain'))[0], ['last', 1]);
    await put(s, 'deep', { list: [{ word: 'rain' }] }, { index: ['list[*].word'] });
    assert.deepEqual((await find(s, 'tea'))[0]?.[1], 0);
    await put(s, 'deep', { text: 'tea' }, { index: false });
    assert.deepEqual(
      (await find(s, 'tea')).map(([key]) => key),
      ['last', 'title'],
    );
    await s.client.store.deleteItem(['docs'], 'last');
    assert.deepEqual(await find(s, 'rain'), [['title', 0]]);
  }));

test('given configured fields, when items are written without a word on it, then those are indexed', () => {
  const index = { dims: 4, embed: { file: `${PROJECT}embed.ts`, exportName: 'embed' }, fields: ['title'] };
  const ttl = { refreshOnRead: true, defaultTtl: null, sweepIntervalMinutes: null };
  return withServer({ overrides: { store: { ...ttl, index } } }, async (s) => {
    await put(s, 'a', { title: 'cat', text: 'dog' });
    await put(s, 'b', { text: 'cat' });
    assert.deepEqual(await find(s, 'cat'), [['a', 1]]);
  });
});

test('given an embedding function that fails or answers junk, when it is needed, then the request says so, nothing is written and nothing leaks', () =>
  withServer({ ...STORE, allowFaults: true }, async (s) => {
    await put(s, 'kept', { text: 'cat' });
    const before = await s.events();
    const failed = await put(s, 'kept', { text: 'canary-that-fails' });
    assert.deepEqual([failed.status, failed.json], [500, { detail: 'store: the embedding function failed' }]);
    assert.match(String(s.faults[0]), /canary-of-the-cause/);
    const detail = 'store: the embedding function returned a vector of 5 numbers; store.index.dims says 4';
    const long = await put(s, 'kept', { text: 'too long' });
    assert.deepEqual([long.status, long.json], [500, { detail }]);
    const query = await s.request('POST', '/store/items/search', { query: 'too long' });
    assert.deepEqual([query.status, query.json], [500, { detail }]);
    assert.deepEqual(await s.events(), before);
    assert.deepEqual((await s.client.store.getItem(['docs'], 'kept'))?.value, { text: 'cat' });
  }));

test('given a graph that searches by meaning, when it runs, then it gets scores', () =>
  withServer(STORE, async (s) => {
    await put(s, 'cats', { text: 'cat' }, { index: ['text'] });
    await put(s, 'dogs', { text: 'dog' }, { index: ['text'] });
    const { json } = await s.request('POST', '/runs/wait', {
      assistant_id: 'counts',
      input: {},
      config: { configurable: { query: 'a cat' } },
    });
    assert.deepEqual(json.found[0], { key: 'cats', score: 1 });
  }));

test('given a configuration of an index, when it names a provider, a missing export or wrong numbers, then the start says what is supported', () =>
  withTempDir(async (dir) => {
    const problemsOf = (index: object): string => {
      const graphs = { echo: `${PROJECT}functions.ts:echo` };
      writeFileSync(join(dir, 'platform.json'), JSON.stringify({ graphs, store: { index } }));
      try {
        loadConfig({ config: dir, port: '0' }, {}, dir);
        return '';
      } catch (error) {
        assert.ok(error instanceof ConfigError, String(error));
        return error.problems.join('\n');
      }
    };
    assert.equal(problemsOf({ dims: 1536, embed: 'openai:text-embedding-3-small' }), '');
    const provider = problemsOf({ dims: 1536, embed: 'nobody:text' });
    assert.match(
      provider,
      /store\.index\.embed: expected "<file>:<function>".*openai, .*found "nobody:text"/,
    );
    assert.match(problemsOf({ dims: 0, embed: './embed.ts:embed' }), /store\.index\.dims/);
    assert.match(problemsOf({ embed: './embed.ts:embed' }), /store\.index\.dims/);
    for (const embed of ['./embed.ts:embed', 'embed.ts:embed', './lib/embed.mjs', '../e.js:x'])
      assert.equal(problemsOf({ dims: 4, embed }), '');
    const ttl = { refreshOnRead: true, defaultTtl: null, sweepIntervalMinutes: null };
    const index = { dims: 4, embed: { file: `${PROJECT}embed.ts`, exportName: 'missing' }, fields: ['$'] };
    await assert.rejects(
      withServer({ overrides: { store: { ...ttl, index } } }, async () => undefined),
      /store\.index\.embed .*does not export "missing", only embed/,
    );
  }));

test.run();
