import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { loadGraphs } from '../../../src/graphs/loader.ts';
import { suite } from '../../support/suite.ts';
import { human, openLoaded } from './harness.ts';
import { answers, GRAPH, load, sayHi, withProject } from './project-harness.ts';

const test = suite('graph loader');

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
