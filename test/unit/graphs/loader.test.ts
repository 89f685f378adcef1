import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/kernel/json.ts';
import { roleOf, serveBoth, type GraphFunction } from '../../../src/graphs/graph-function.ts';
import { loadGraphs, type LoadedGraph } from '../../../src/graphs/loader.ts';
import { suite } from '../../support/suite.ts';
import { human, openLoaded } from './harness.ts';
import { withProject } from './project-harness.ts';

const test = suite('graph loader');

const load = async (file: string, exportName = 'graph'): Promise<LoadedGraph> => {
  const { graphs, problems } = await loadGraphs([{ id: 'agent', file, exportName }]);
  assert.deepEqual(problems, []);
  assert.ok(graphs[0]);
  return graphs[0];
};

/** The last values of a run that says hi. */
const sayHi = async (graph: LoadedGraph, configurable: JsonObject = {}): Promise<Json> => {
  const { end, of } = await openLoaded(graph).run({
    input: { messages: [human('hi', 'm1')] },
    config: { configurable, metadata: {} },
  });
  assert.equal(end.kind, 'success', JSON.stringify(end));
  return of('values').at(-1) ?? null;
};

const answers = (values: Json): Json[] =>
  ((values as JsonObject)['messages'] as JsonObject[]).map((message) => message['content'] ?? null);

const GRAPH = `
  import { StateGraph, MessagesAnnotation } from '@langchain/langgraph';
  const reply = (text) => () => ({ messages: [{ type: 'ai', content: text }] });
  const build = (text = 'built') =>
    new StateGraph(MessagesAnnotation).addNode('a', reply(text)).addEdge('__start__', 'a');
`;

test('given every kind of graph export, when loaded and run, then each of them answers', () =>
  withProject(
    {
      'graphs.mjs': `${GRAPH}
        export const compiled = build().compile();
        export const builder = build();
        export const promised = Promise.resolve(build().compile());
        export const wrapped = { name: 'agent', graph: build().compile() };
        export const factory = (config) => build('for ' + config.configurable.who).compile();
        export const asyncFactory = async ({ configurable: { who } }) => build('for ' + who);
        export const oddFactory = (c) => build('for ' + c.configurable.who).compile();
        export const bareFactory = () => build().compile();
        export const wrapFactory = async () => ({ graph: build().compile() });
      `,
    },
    async (dir) => {
      const file = join(dir, 'graphs.mjs');
      for (const name of ['compiled', 'builder', 'promised', 'wrapped', 'bareFactory', 'wrapFactory'])
        assert.deepEqual(answers(await sayHi(await load(file, name))), ['hi', 'built'], name);
      for (const name of ['factory', 'asyncFactory', 'oddFactory'])
        assert.deepEqual(
          answers(await sayHi(await load(file, name), { who: 'ann' })),
          ['hi', 'for ann'],
          name,
        );
    },
    { libraries: true },
  ));

test('each kind of plain function is loaded and called once with the state', () =>
  withProject(
    {
      'functions.mjs': `
        let calls = 0;
        const update = (state) => ({ calls: ++calls, seen: Object.keys(state), messages: { role: 'ai', content: 'ok' } });
        export const one = (state) => update(state);
        export const odd = (s) => update({ ...s });
        export const two = async (s, config) => update(s);
        export const defaulted = (state, config = {}) => ({ ...update(state), who: config.configurable.who });
        export async function* generator(s) { yield update(s); }
        export function* plainGenerator(s) { yield update(s); }
        export const iterable = (s) => ({ async *[Symbol.asyncIterator]() { yield update(s); } });
        export const none = () => update({ messages: 1 });
        export const later = async (s) => update(s);
      `,
    },
    async (dir) => {
      const names = [
        'one',
        'odd',
        'two',
        'defaulted',
        'generator',
        'plainGenerator',
        'iterable',
        'none',
        'later',
      ];
      for (const [index, name] of names.entries()) {
        const values = (await sayHi(await load(join(dir, 'functions.mjs'), name), {
          who: 'ann',
        })) as JsonObject;
        assert.deepEqual(answers(values), ['hi', 'ok'], name);
        assert.equal(values['calls'], index + 1, `${name} was called again`);
        assert.deepEqual(values['seen'], ['messages'], name);
        assert.equal(values['who'], name === 'defaulted' ? 'ann' : undefined, name);
      }
    },
  ));

test('given a function, when its declaration is read, then parameters decide what it is', () => {
  const roles: [(...args: JsonObject[]) => unknown, string][] = [
    [(_a, _b) => 1, 'plain'],
    [async function* (_a: unknown) {}, 'plain'],
    [function* () {}, 'plain'],
    [(config) => config, 'factory'],
    [
      async function make(config) {
        return config;
      },
      'factory',
    ],
    [({ configurable }) => configurable, 'factory'],
    [(config = {}) => config, 'factory'],
    [(state) => state, 'plain'],
    [(state, config = {}) => [state, config], 'plain'],
    [({ messages }) => messages, 'plain'],
    [(/* (config) */ s) => s, 'undecided'],
    [() => 1, 'undecided'],
    [(...all) => all, 'undecided'],
    [((state: unknown) => state).bind(null), 'undecided'],
  ];
  for (const [fn, role] of roles) assert.equal(roleOf(fn as GraphFunction), role, String(fn));
});

test('A4 spreading or listing the argument that serves both readings copies only the state', () => {
  const both = serveBoth({ a: 1, tags: 'mine' }, { configurable: { secret: 1 }, tags: [] }) as JsonObject;
  assert.deepEqual({ ...both }, { a: 1, tags: 'mine' });
  assert.equal(JSON.stringify(both), '{"a":1,"tags":"mine"}');
  assert.deepEqual(both['configurable'], { secret: 1 });
});

test('the checkpoints tell what a factory of unknown kind makes, for commands and states', () =>
  withProject(
    {
      'ask.mjs': `
        import { StateGraph, Annotation, interrupt } from '@langchain/langgraph';
        const State = Annotation.Root({ answer: Annotation });
        export const graph = () => new StateGraph(State)
          .addNode('ask', () => ({ answer: interrupt('?') })).addEdge('__start__', 'ask').compile();
      `,
      'other.mjs': 'export const graph = () => ({ answer: 1 });',
    },
    async (dir) => {
      const first = openLoaded(await load(join(dir, 'ask.mjs')));
      await first.run({ input: { answer: 0 } });
      assert.deepEqual((await first.restart().state()).next, ['ask']);
      const { end } = await first.restart().run({ command: { resume: 'yes' } });
      assert.equal(end.kind, 'success');
      assert.deepEqual((await first.restart().state()).values, { answer: 'yes' });
      // They may be those of another graph: what is called and gives no graph is no factory.
      const other = openLoaded(await load(join(dir, 'other.mjs')), first.checkpoints);
      for (let times = 0; times < 2; times++) assert.deepEqual((await other.state()).next, []);
    },
    { libraries: true },
  ));

test('given a function that takes a config and returns no graph, when run, then the end says so', () =>
  withProject({ 'g.mjs': 'export const graph = (config) => ({ a: 1 });' }, async (dir) => {
    const { end } = await openLoaded(await load(join(dir, 'g.mjs'))).run({ input: {} });
    assert.match((end as { message: string }).message, /takes a config, so it has to return a graph/);
  }));

test('given specs with every fault, when loaded, then all problems come back and the good graph too', () =>
  withProject(
    {
      'good.mjs': 'export const graph = (state, config) => ({}); export const text = "no";',
      'bad.mjs': 'throw new RangeError("cannot start\\nat all");',
      'syntax.ts': 'export const graph = ;',
      'odd.mjs': `export const nothing = null; export class Graph {}; export const plain = { a: 1 };
        export const rejected = Promise.reject(new Error('late')); rejected.catch(() => 0);
        export const broken = { compile() { throw new Error('no nodes') } };`,
    },
    async (dir) => {
      const spec = (file: string, exportName: string) => ({
        id: `${file}:${exportName}`,
        file: join(dir, file),
        exportName,
      });
      const { graphs, problems } = await loadGraphs([
        spec('good.mjs', 'graph'),
        spec('none.mjs', 'graph'),
        spec('good.mjs', 'missing'),
        spec('good.mjs', 'text'),
        spec('bad.mjs', 'graph'),
        spec('odd.mjs', 'nothing'),
        spec('odd.mjs', 'Graph'),
        spec('odd.mjs', 'plain'),
        spec('odd.mjs', 'rejected'),
        spec('odd.mjs', 'broken'),
        spec('syntax.ts', 'graph'),
      ]);
      assert.deepEqual(
        graphs.map((graph) => graph.graphId),
        ['good.mjs:graph'],
      );
      const reasons = Object.fromEntries(problems.map(({ graphId, reason }) => [graphId, reason]));
      const syntax = reasons['syntax.ts:graph'] ?? '';
      delete reasons['syntax.ts:graph'];
      assert.match(
        syntax,
        /^the file throws on import: SyntaxError: .*syntax\.ts:1:22: Unexpected token\n 1 \| export/,
      );
      const wanted = 'expected a graph, a builder, a promise of one, or a function';
      assert.deepEqual(reasons, {
        'none.mjs:graph': 'the file does not exist',
        'good.mjs:missing': 'there is no export "missing"; the file exports graph, text',
        'good.mjs:text': `the export "text" is a string; ${wanted}`,
        'bad.mjs:graph': `the file throws on import: RangeError: ${join(dir, 'bad.mjs')}:1:7: cannot start`,
        'odd.mjs:nothing': `the export "nothing" is null; ${wanted}`,
        'odd.mjs:Graph': `the export "Graph" is a class; ${wanted}`,
        'odd.mjs:plain': `the export "plain" is an object without the methods of a graph; ${wanted}`,
        'odd.mjs:rejected': `the export "rejected" fails: Error: ${join(dir, 'odd.mjs')}:2:48: late`,
        'odd.mjs:broken': `the export "broken" fails: Error: ${join(dir, 'odd.mjs')}:3:51: no nodes`,
      });
      assert.ok(problems.every((problem) => problem.file.startsWith(dir)));
    },
  ));

test("a CommonJS project's graph gets the message classes of its own build", () =>
  withProject(
    {
      'g.cjs': `const { StateGraph, Annotation, Send } = require('@langchain/langgraph');
        const State = Annotation.Root({ text: Annotation });
        exports.graph = new StateGraph(State).addNode('a', (s) => ({ text: s.text + '!' }))
          .addEdge('__start__', 'a').compile();`,
    },
    async (dir) => {
      const bench = openLoaded(await load(join(dir, 'g.cjs')));
      await bench.run({ input: { text: 'one' } });
      const { end } = await bench.run({ command: { goto: { node: 'a', input: { text: 'two' } } } });
      assert.equal(end.kind, 'success', JSON.stringify(end));
      assert.deepEqual((await bench.state()).values, { text: 'two!' });
    },
    { libraries: true },
  ));

test('an ESM project beside a CommonJS one gets its own message classes', () =>
  withProject(
    {
      'g.mjs': `${GRAPH} export const graph = build().compile();`,
      'other.cjs': `exports.graph = require('@langchain/langgraph') && (() => ({}));`,
    },
    async (dir) => {
      await load(join(dir, 'other.cjs'));
      const bench = openLoaded(await load(join(dir, 'g.mjs')));
      await bench.run({ input: { messages: [human('hi')] } });
      const { end } = await bench.run({ command: { goto: { node: 'a', input: {} } } });
      assert.equal(end.kind, 'success', JSON.stringify(end));
    },
    { libraries: true },
  ));

test('given a function of unknown role that throws, when first called, then nothing is saved in its name', () =>
  withProject({ 'g.mjs': `export const graph = () => { throw new RangeError('no key'); };` }, async (dir) => {
    const bench = openLoaded(await load(join(dir, 'g.mjs')));
    const { end } = await bench.run({ input: { a: 1 } });
    assert.deepEqual(end, { kind: 'error', error: 'RangeError', message: 'no key' });
    assert.deepEqual(bench.checkpoints.saved, []);
  }));

test.run();
