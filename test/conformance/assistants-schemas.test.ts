import * as assert from 'node:assert/strict';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { sharedServer } from '../support/shared-server.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config } from './scene.ts';

/** Reading types takes the compiler some seconds, and more on a busy machine. */
const test = suite('conformance: drawings and schemas of assistants');

const SCHEMAS = {
  config: config('platform.schemas.json'),
  env: { LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: '120000' },
};
/** Types are read once for each server. */
const server = sharedServer(test, SCHEMAS);
const DRAFT = 'http://json-schema.org/draft-07/schema#';
const KINDS = ['input_schema', 'output_schema', 'state_schema', 'config_schema', 'context_schema'] as const;

/** The schemas of a graph as plain JSON; all of them there, and draft-07 with an object at the root. */
async function schemasOf(s: TestServer, id: string): Promise<Record<(typeof KINDS)[number], any>> {
  const schemas = (await s.client.assistants.getSchemas(id)) as unknown as Record<string, any>;
  assert.equal(schemas['graph_id'], id);
  for (const kind of KINDS) {
    const { $schema, type, ...rest } = schemas[kind];
    assert.deepEqual([$schema, type], [DRAFT, 'object'], `${id} ${kind}`);
    assert.doesNotMatch(JSON.stringify(rest), /\$schema|\$defs|prefixItems|"lg:/, `${id} ${kind}`);
  }
  assert.deepEqual(schemas['context_schema'], schemas['config_schema']);
  return schemas as never;
}

test('client.assistants.getSchemas: schemas known at run time keep their extras, and none are invented', async () => {
  const s = server();
  for (const id of ['stateSchema', 'registered']) {
    const { input_schema: input, state_schema: state, output_schema: output } = await schemasOf(s, id);
    for (const { properties } of [input, state, output])
      assert.equal(properties.messages.langgraph_type, 'messages', id);
  }
  const { input_schema: input, state_schema: state } = await schemasOf(s, 'plainZod');
  assert.doesNotMatch(JSON.stringify([input, state]), /langgraph_type/);
  assert.deepEqual(state.required, ['messages', 'tags']);
  assert.equal(input.required, undefined);
  assert.deepEqual(state.properties.tags.items, [{ type: 'string' }, { type: 'number' }]);
  assert.deepEqual(state.properties.messages.items.properties, { text: { type: 'string' } });
  const { input_schema: registered } = await schemasOf(s, 'registered');
  assert.deepEqual(registered.properties.topic, { type: 'string' });
  for (const id of ['stateSchema', 'registered', 'plainZod'])
    assert.deepEqual((await schemasOf(s, id)).config_schema.properties, { model_name: { type: 'string' } });
  // As clients send it, without body or content type, and by id too.
  const { assistant_id: own } = await s.client.assistants.create({ graphId: 'plainZod' });
  const { status, json } = await s.request('GET', `/assistants/${own}/schemas`);
  assert.deepEqual([status, json.state_schema], [200, state]);
});

test('what only types describe is read from the source while the server goes on', () =>
  withServer(SCHEMAS, async (s) => {
    // given: a server of its own, which has read nothing yet
    let reading = true;
    const asked = Promise.all(['typed', 'typed', 'family'].map((id) => schemasOf(s, id))).finally(() => {
      reading = false;
    });
    let answers = 0;
    while (reading && answers < 20) {
      assert.equal((await s.request('GET', '/ok')).status, 200);
      answers += 1;
    }
    assert.equal(reading, true, 'other requests are answered while types are read');
    const [typed, again, family] = await asked;
    const { input_schema: input, state_schema: state, config_schema: own } = typed!;
    assert.deepEqual(again!.state_schema, state);
    assert.deepEqual(state.required, ['mood', 'chapters', 'scores', 'at', 'messages']);
    assert.equal(input.required, undefined);
    const { definitions, properties } = state;
    assert.deepEqual(Object.keys(input.properties).sort(), Object.keys(properties).sort());
    assert.deepEqual(properties, {
      mood: { anyOf: [{ type: 'null' }, { type: 'string', enum: ['good', 'bad'] }] },
      chapters: { type: 'array', items: { $ref: '#/definitions/Chapter' } },
      scores: { type: 'object', properties: {}, additionalProperties: { type: 'number' } },
      at: { type: 'string', format: 'date-time' },
      flag: { type: 'boolean' },
      messages: { type: 'array', items: { $ref: '#/definitions/BaseMessage' } },
    });
    assert.deepEqual(definitions.Chapter, {
      type: 'object',
      properties: {
        title: { type: 'string', description: 'Shown above the text.' },
        parts: { type: 'array', items: { $ref: '#/definitions/Chapter' } },
      },
      required: ['title'],
    });
    assert.deepEqual(definitions.BaseMessage.required, ['type', 'content']);
    assert.deepEqual(own.properties, { model_name: { type: 'string' } });
    assert.deepEqual(family!.state_schema.properties, {
      outer: { type: 'string' },
      inner: { type: 'string' },
    });
    // What a function makes, and what it takes.
    for (const id of ['made', 'undecided'])
      assert.deepEqual((await schemasOf(s, id)).state_schema.properties, { inner: { type: 'string' } });
    const plain = await schemasOf(s, 'plain');
    assert.deepEqual(plain.input_schema.properties, {
      question: { type: 'string' },
      tries: { type: 'number' },
    });
    assert.deepEqual(plain.input_schema.required, ['question']);
    const open = await schemasOf(s, 'open');
    assert.equal(open.input_schema.properties.messages.type, 'array');
  }));

test("a reading of types that exceeds its limit shows the channels' names and is tried again", () =>
  withServer({ ...SCHEMAS, overrides: { schemaTimeoutMs: 1 }, allowFaults: true }, async (s) => {
    for (const faults of [1, 2]) {
      const { input_schema: input, config_schema: own } = await schemasOf(s, 'typed');
      const names = ['at', 'chapters', 'flag', 'messages', 'mood', 'scores'];
      assert.deepEqual(Object.keys(input.properties).sort(), names);
      assert.deepEqual(input.properties.messages, {});
      assert.deepEqual(own.properties, {});
      assert.equal(s.faults.length, faults);
      assert.match(String(s.faults.at(-1)), /schemas\.ts took more than 1 ms of processor time/);
    }
    // What is known at run time needs no reading.
    assert.deepEqual((await schemasOf(s, 'plainZod')).state_schema.required, ['messages', 'tags']);
    assert.equal(s.faults.length, 2);
  }));

test('client.assistants.getSubgraphs: depth and namespace choose subgraphs, in both spellings', async () => {
  const s = server();
  const names = async (namespace?: string, recurse?: boolean): Promise<string[]> =>
    Object.keys(await s.client.assistants.getSubgraphs('family', { namespace, recurse } as object));
  assert.deepEqual(await names(), ['gp_two', 'gp_zod']);
  assert.deepEqual(await names(undefined, true), ['gp_two', 'gp_two|p_two', 'gp_zod']);
  assert.deepEqual(await names('gp_two'), ['gp_two']);
  assert.deepEqual(await names('gp_two|p_two', true), ['gp_two|p_two']);
  assert.deepEqual(await names('nothing', true), []);
  const all = (await s.client.assistants.getSubgraphs('family', { recurse: true })) as Record<string, any>;
  const root = await schemasOf(s, 'family');
  for (const [name, schemas] of Object.entries(all)) {
    assert.equal(schemas.graph_id, 'family');
    for (const kind of ['input', 'output', 'state', 'config'])
      assert.deepEqual(schemas[kind], schemas[`${kind}_schema`], `${name} ${kind}`);
  }
  const members = (name: string): string[] => Object.keys(all[name].state.properties);
  // One whose types are known, one that describes itself, and one that nothing describes: as the whole graph.
  assert.deepEqual([members('gp_two'), members('gp_zod')], [['inner'], ['zod']]);
  assert.deepEqual(all['gp_two|p_two'].state, root.state_schema);
  assert.deepEqual(await s.client.assistants.getSubgraphs('plain', { recurse: true }), {});
});

test('client.assistants.getGraph: nodes and edges are those of the graph, as deep as asked', async () => {
  const s = server();
  const nodes = async (id: string, query = ''): Promise<string[]> => {
    const { status, json } = await s.request('GET', `/assistants/${id}/graph${query}`);
    assert.equal(status, 200);
    return (json.nodes as { id: string }[]).map((node) => node.id);
  };
  const drawn = await s.client.assistants.getGraph('agent');
  assert.deepEqual(
    drawn.nodes.map(({ id }) => id),
    ['__start__', 'agent', 'tool', '__end__'],
  );
  const [start, agent] = drawn.nodes as unknown as Record<string, any>[];
  assert.deepEqual([start!['type'], agent!['type'], agent!['data'].name], ['schema', 'runnable', 'agent']);
  assert.deepEqual(
    drawn.edges
      .map(({ source, target, conditional }) => `${source} ${target} ${conditional ?? false}`)
      .sort(),
    ['__start__ agent false', 'agent __end__ true', 'agent tool true', 'tool agent false'],
  );
  const flat = ['__start__', 'gp_one', 'gp_two', 'gp_zod', '__end__'];
  const deep = ['__start__', 'gp_one', 'gp_two:p_one', 'gp_two:p_two', 'gp_zod', '__end__'];
  for (const query of ['', '?xray=false', '?xray=no'])
    assert.deepEqual(await nodes('family', query), flat, query);
  for (const query of ['?xray=0', '?xray=-1'])
    assert.equal((await s.request('GET', `/assistants/family/graph${query}`)).status, 422, query);
  for (const query of ['?xray=true', '?xray=1', '?xray=5', '?xray=yes'])
    assert.deepEqual(await nodes('family', query), deep, query);
  const asked = await s.client.assistants.getGraph('family', { xray: true });
  assert.deepEqual(
    asked.nodes.map(({ id }) => id),
    deep,
  );
  const plain = await s.client.assistants.getGraph('plain');
  assert.deepEqual(
    [(plain.nodes as { id: unknown; type?: string }[]).map(({ id, type }) => `${id} ${type}`), plain.edges],
    [
      ['__start__ schema', 'plain runnable', '__end__ schema'],
      [
        { source: '__start__', target: 'plain' },
        { source: 'plain', target: '__end__' },
      ],
    ],
  );
  // A factory makes the graph with the assistant's config.
  assert.deepEqual(await nodes('made'), ['__start__', 'default', '__end__']);
  const { assistant_id: own } = await s.client.assistants.create({
    ...{ graphId: 'made', config: { configurable: { nodeName: 'mine' } } },
  });
  assert.deepEqual(await nodes(own), ['__start__', 'mine', '__end__']);
  await s.client.assistants.update(own, { config: { configurable: { nodeName: 'other' } } });
  assert.deepEqual(await nodes(own), ['__start__', 'other', '__end__']);
  assert.deepEqual(await nodes('undecided'), ['__start__', 'p_one', 'p_two', '__end__']);
});

test('RemoteGraph.getGraphAsync, RemoteGraph.getSubgraphsAsync: a RemoteGraph is drawn like its graph', async () => {
  const s = server();
  const remote = new RemoteGraph({ graphId: 'family', url: s.url });
  const drawn = (await remote.getGraphAsync({ xray: true })).toJSON() as { nodes: { id: string }[] };
  assert.deepEqual(
    drawn.nodes.map(({ id }) => id),
    ['__start__', 'gp_one', 'gp_two:p_one', 'gp_two:p_two', 'gp_zod', '__end__'],
  );
  const found: string[] = [];
  for await (const [name, child] of remote.getSubgraphsAsync(undefined, true))
    found.push(`${name} of ${(child as { graphId?: string }).graphId}`);
  assert.deepEqual(found, ['gp_two of family', 'gp_two|p_two of family', 'gp_zod of family']);
});

test.run();
