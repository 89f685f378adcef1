import * as assert from 'node:assert/strict';
import type { Config } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { growingClock, MISSING, newThread, startGated, TIMESTAMP } from './scene.ts';

const test = suite('conformance: versions of assistants');

const statusOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    return JSON.stringify(await call);
  } catch (error) {
    return (error as Error).message;
  }
};

const ID = '11111111-1111-4111-8111-111111111111';
const made = (s: TestServer, more: object = {}) =>
  s.client.assistants.create({ graphId: 'echo', assistantId: ID, ...more });

test('client.assistants.create: given a graph, when an assistant of it is made, then all that was sent is there and the rest has defaults', () =>
  withServer({}, async (s) => {
    const bare = await s.client.assistants.create({ graphId: 'echo' });
    const { assistant_id: id, created_at: at, updated_at: updated, ...rest } = bare;
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7/);
    assert.match(at, TIMESTAMP);
    assert.equal(updated, at);
    assert.deepEqual(rest, {
      ...{ graph_id: 'echo', name: 'Untitled', description: null, config: {}, context: {}, metadata: {} },
      version: 1,
    });
    const config = { tags: ['t'], recursion_limit: 7, configurable: { a: [1], b: null } };
    const full = await made(s, {
      ...{
        config,
        context: { tone: 'dry' },
        metadata: { team: 'x' },
        name: 'Mine',
        description: 'What it is for',
      },
    });
    assert.deepEqual(full, await s.client.assistants.get(ID));
    assert.deepEqual(
      [full.assistant_id, full.config, full.context, full.metadata, full.name, full.description],
      [ID, config, { tone: 'dry' }, { team: 'x' }, 'Mine', 'What it is for'],
    );
    assert.match(
      await statusOf(s.client.assistants.create({ graphId: 'nothing' })),
      /HTTP 404: .*Graph \\?"nothing\\?" not found/,
    );
  }));

test('given an assistant, when its id is used once more, then the answer is 409, or what is there when that is wanted', () =>
  withServer({}, async (s) => {
    const first = await made(s, { name: 'first' });
    assert.match(await statusOf(made(s)), /HTTP 409: .*Assistant already exists/);
    assert.match(await statusOf(made(s, { ifExists: 'raise' })), /HTTP 409/);
    assert.deepEqual(await made(s, { ifExists: 'do_nothing', name: 'second', graphId: 'gate' }), first);
    const { assistant_id: own } = await s.client.assistants.get('echo');
    assert.match(await statusOf(made(s, { assistantId: own })), /HTTP 409/);
    assert.deepEqual(
      await made(s, { assistantId: own, ifExists: 'do_nothing' }),
      await s.client.assistants.get('echo'),
    );
  }));

test('client.assistants.update: given an assistant, when it is changed, then metadata is merged, all else replaced, and each change is a version', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const first = await made(s, {
      ...{
        metadata: { a: 1, b: { x: 1 } },
        config: { configurable: { k: 1 } },
        name: 'one',
        description: 'd',
      },
    });
    const second = await s.client.assistants.update(ID, {
      ...{ metadata: { b: { y: 2 } }, config: { tags: ['t'] } as Config, context: { c: 1 } },
    });
    assert.deepEqual(second, {
      ...first,
      ...{ metadata: { a: 1, b: { y: 2 } }, context: { c: 1 }, version: 2 },
      ...{ config: { tags: ['t'], configurable: { c: 1 } } },
      updated_at: second.updated_at,
    });
    assert.ok(second.updated_at > first.updated_at);
    const third = await s.client.assistants.update(ID, {
      graphId: 'gate',
      name: 'three',
      description: 'new',
    });
    assert.deepEqual(
      [third.graph_id, third.name, third.description, third.context, third.version],
      ['gate', 'three', 'new', { c: 1 }, 3],
    );
    const nothing = {
      graph_id: null,
      config: null,
      context: null,
      metadata: null,
      name: null,
      description: null,
    };
    for (const [index, body] of [{}, undefined, nothing, { unknown: 1 }].entries()) {
      const { status, json } = await s.request('PATCH', `/assistants/${ID}`, body as any);
      assert.deepEqual([status, json.version], [200, 4 + index]);
      assert.deepEqual({ ...json, version: 3, updated_at: third.updated_at }, third);
    }
    assert.match(await statusOf(s.client.assistants.update(ID, { graphId: 'nothing' })), /HTTP 404/);
    assert.match(await statusOf(s.client.assistants.update(MISSING, {})), /HTTP 404: .*Assistant not found/);
    await s.restart();
    assert.equal((await s.client.assistants.get(ID)).version, 7);
  }));

test('given many changes at once, when all are answered, then every one has a number of its own without holes', () =>
  withServer({}, async (s) => {
    await made(s);
    const done = await Promise.all(
      Array.from({ length: 30 }, (_, i) => s.client.assistants.update(ID, { metadata: { [`k${i}`]: i } })),
    );
    assert.deepEqual(
      done.map(({ version }) => version).sort((a, b) => a - b),
      Array.from({ length: 30 }, (_, i) => i + 2),
    );
    assert.equal(Object.keys((await s.client.assistants.get(ID)).metadata ?? {}).length, 30);
  }));

test('client.assistants.getVersions: given versions, when they are listed, then the newest comes first and metadata and page narrow', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const first = await made(s, { metadata: { stage: 'draft' }, name: 'one', description: 'd' });
    await s.client.assistants.update(ID, { metadata: { reviewed: true } });
    await s.client.assistants.update(ID, { metadata: { stage: 'final' } });
    const versions = await s.client.assistants.getVersions(ID);
    assert.deepEqual(
      versions.map(({ version, metadata }) => [version, metadata]),
      [
        [3, { stage: 'final', reviewed: true }],
        [2, { stage: 'draft', reviewed: true }],
        [1, { stage: 'draft' }],
      ],
    );
    const { updated_at: _, ...rest } = first;
    assert.deepEqual(versions[2], rest);
    const numbers = async (wanted: object): Promise<number[]> =>
      (await s.client.assistants.getVersions(ID, wanted)).map(({ version }) => version);
    assert.deepEqual(await numbers({ metadata: { stage: 'draft' } }), [2, 1]);
    assert.deepEqual(await numbers({ limit: 1, offset: 1 }), [2]);
    for (const [id, wanted] of [
      [ID, { metadata: { stage: 'none' } }],
      [ID, { offset: 3 }],
      [MISSING, {}],
    ] as const)
      assert.match(
        await statusOf(s.client.assistants.getVersions(id, wanted)),
        new RegExp(`HTTP 404: .*Assistant .*${id}.* not found`),
      );
    assert.equal((await s.client.assistants.getVersions('agent')).length, 1);
  }));

test('client.assistants.setLatest: given versions, when an earlier one is set, then all of it is back and the next change counts on', () =>
  withServer({ clock: growingClock() }, async (s) => {
    const first = await made(s, {
      ...{
        config: { configurable: { k: 1 } },
        context: { c: 1 },
        metadata: { m: 1 },
        name: 'one',
        description: 'd',
      },
    });
    await s.client.assistants.update(ID, {
      ...{
        graphId: 'gate',
        config: {},
        context: {},
        metadata: { m: 2, n: 1 },
        name: 'two',
        description: 'e',
      },
    });
    const back = await s.client.assistants.setLatest(ID, 1);
    assert.deepEqual(back, { ...first, updated_at: back.updated_at });
    assert.ok(back.updated_at > first.updated_at);
    assert.deepEqual(await s.client.assistants.get(ID), back);
    assert.equal((await s.client.assistants.getVersions(ID)).length, 2);
    const { json: ahead } = await s.request('POST', `/assistants/${ID}/latest?version=2`);
    assert.deepEqual([ahead.version, ahead.graph_id, ahead.name], [2, 'gate', 'two']);
    assert.equal(
      (await s.request('POST', `/assistants/${ID}/latest?version=2`, { version: 1 })).json.version,
      1,
    );
    const next = await s.client.assistants.update(ID, { name: 'three' });
    assert.deepEqual([next.version, next.graph_id, next.metadata], [3, 'echo', { m: 1 }]);
    for (const version of [0, -1, 9]) {
      const { status, json } = await s.request('POST', `/assistants/${ID}/latest`, { version });
      assert.deepEqual([status, json], [404, { detail: 'Assistant version not found' }]);
    }
    assert.match(
      await statusOf(s.client.assistants.setLatest(MISSING, 1)),
      /HTTP 404: .*Assistant not found/,
    );
  }));

test("given the server's own assistant, when a user changes it, then it stays changed over a restart and stays the server's", () =>
  withServer(
    { env: { LANGGRAPH_CONFIG: '{"echo":{"configurable":{"k":1},"context":{"c":1}}}' } },
    async (s) => {
      const first = await s.client.assistants.get('echo');
      assert.deepEqual([first.config, first.context], [{ configurable: { k: 1 } }, { c: 1 }]);
      const edited = await s.client.assistants.update('echo', {
        ...{ config: { configurable: { k: 2 } }, metadata: { created_by: 'me', note: 'n' } },
      });
      assert.deepEqual(edited.metadata, { created_by: 'system', note: 'n' });
      await s.restart();
      assert.deepEqual(await s.client.assistants.get('echo'), edited);
      assert.deepEqual((await s.client.assistants.setLatest('echo', 1)).config, first.config);
    },
  ));

test('given runs of an assistant, when it is changed, then the next run has the new config, context and metadata, and no earlier one', () =>
  withServer({}, async (s) => {
    await made(s, {
      ...{
        config: { configurable: { who: 'first' }, tags: ['a'] },
        context: { c: 1 },
        metadata: { m: 1, own: 'a' },
      },
    });
    const thread = await newThread(s, { metadata: { m: 2, t: 1 } });
    const early = await s.client.runs.create(thread, ID, { metadata: { r: 1 } });
    await s.client.runs.join(thread, early.run_id);
    await s.client.assistants.update(ID, {
      ...{ graphId: 'gate', config: { configurable: { who: 'second' } }, context: { c: 2, d: 1 } },
      metadata: { own: 'b' },
    });
    const { runId, open } = await startGated(s, thread, { graph: ID, context: { d: 2 }, metadata: { t: 3 } });
    const late = await s.client.runs.get(thread, runId);
    const metadata = late.metadata ?? {};
    const kwargs = (run: object) => (run as { kwargs: Record<string, any> }).kwargs;
    const { assistant_id: _, graph_id: __, ...merged } = early.metadata as Record<string, unknown>;
    assert.deepEqual(merged, { m: 2, own: 'a', t: 1, r: 1 });
    assert.deepEqual(
      [kwargs(early)['config'].configurable.who, kwargs(early)['config'].tags],
      ['first', ['a']],
    );
    assert.equal(kwargs(late)['config'].configurable.who, 'second');
    assert.deepEqual([kwargs(early)['context'], kwargs(late)['context']], [{ c: 1 }, { c: 2, d: 2 }]);
    assert.deepEqual([metadata['m'], metadata['own'], metadata['t']], [2, 'b', 3]);
    assert.equal(kwargs(late)['config'].configurable.graph_id, 'gate');
    open();
    await s.client.runs.join(thread, runId);
  }));

test('an assistant shows context and configurable alike, after create and each change (official 2.1)', () =>
  withServer({}, async (s) => {
    const settings = ({ config, context }: Record<string, unknown>) => ({ config, context });
    const created = (await s.request('POST', '/assistants', { graph_id: 'echo', context: { a: 1 } })).json;
    assert.deepEqual(settings(created), { config: { configurable: { a: 1 } }, context: { a: 1 } });
    const patch = async (body: object) =>
      settings((await s.request('PATCH', `/assistants/${created.assistant_id}`, body)).json);
    const [b, c] = [{ b: 2 }, { c: 3 }];
    const configured = { config: { configurable: b }, context: b };
    assert.deepEqual(await patch({ config: { configurable: b } }), configured);
    assert.deepEqual(await patch({ config: {} }), configured);
    assert.deepEqual(await patch({ config: { tags: ['t'] } }), { config: { tags: ['t'] }, context: b });
    const both = { config: { tags: ['t'], configurable: c }, context: c };
    assert.deepEqual(await patch({ context: c }), both);
    assert.deepEqual(await patch({ context: c, config: { tags: ['t'] } }), both);
  }));

test.run();
