/** Which exported functions are plain and which are factories, and how each is called. */
import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { roleOf, serveBoth, type GraphFunction } from '../../../src/graphs/graph-function.ts';
import { loadGraphs } from '../../../src/graphs/loader.ts';
import { suite } from '../../support/suite.ts';
import { human, openLoaded } from './harness.ts';
import { answers, GRAPH, load, sayHi, withProject } from './project-harness.ts';

const test = suite('graph functions');

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
    [(_a, _b) => 1, 'undecided'],
    [(_, config) => config, 'plain'],
    [(a, { configurable }) => [a, configurable], 'plain'],
    [(config, runtime) => [config, runtime], 'factory'],
    [(cfg, runtime) => [cfg, runtime], 'factory'],
    [(cfg, { accessContext }) => [cfg, accessContext], 'factory'],
    [({ a, b } = { a: 1, b: 2 }, config) => [a, b, config], 'plain'],
    [(state, runtime) => [state, runtime], 'plain'],
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

test('what a function returns decides what it is, whatever its parameters are named', () =>
  withProject(
    {
      'g.mjs': `${GRAPH}
        let calls = 0;
        const made = (config, { executionRuntime }) =>
          build([config.configurable.who, executionRuntime.context.tone, ++calls].join()).compile();
        export const named = (config, runtime) => made(config, runtime);
        export const later = async (config, runtime) => made(config, runtime);
        export const odd = (c, r) => made(c, r);
        export const builder = (_, { executionRuntime: { context } }) => build([context.who, context.tone, ++calls].join());
        export const rest = (...all) => ({ graph: made(...all) });

        const told = (who, tone) => ({ messages: { role: 'ai', content: [who, tone, ++calls].join() } });
        export const fromConfig = (config) => told(config.configurable.who, config.context.tone);
        export const fromOdd = (c) => told(c.configurable.who, c.context.tone);
        export const fromPair = (s, c) => told(c.configurable.who, s.messages && c.context.tone);
        export const fromRuntime = ({ configurable: { who } }, { executionRuntime }) => told(who, executionRuntime.context.tone);
        export const yields = (config, runtime) => (function* () { yield told(config.configurable.who, config.context.tone); })();
      `,
    },
    async (dir) => {
      const { graphs, problems } = await loadGraphs(
        [
          ...['named', 'later', 'odd', 'builder', 'rest'],
          ...['fromConfig', 'fromOdd', 'fromPair', 'fromRuntime', 'yields'],
        ].map((exportName) => ({ id: 'agent', file: join(dir, 'g.mjs'), exportName })),
      );
      assert.deepEqual(problems, []);
      let calls = 0;
      for (const graph of graphs) {
        // A function is called once in each run, and not before the first.
        const bench = openLoaded(graph);
        for (const runs of [1, 2, 3]) {
          const { end } = await bench.run({
            input: { messages: [human('hi')] },
            config: { configurable: { who: 'ann' }, metadata: {} },
            context: { who: 'ann', tone: 'kind' },
          });
          assert.equal(end.kind, 'success', `${graph.exportName}: ${JSON.stringify(end)}`);
          const said = answers(bench.checkpoints.values() ?? null);
          assert.equal(said.length, runs * 2, graph.exportName);
          assert.equal(said.at(-1), `ann,kind,${++calls}`, graph.exportName);
        }
      }
    },
    { libraries: true },
  ));

test('a factory goes on where its graph paused, in a new process too', () =>
  withProject(
    {
      'g.mjs': `
        import { StateGraph, Annotation, interrupt } from '@langchain/langgraph';
        const State = Annotation.Root({ answer: Annotation, a: Annotation });
        export const graph = (config, runtime) => new StateGraph(State)
          .addNode('ask', () => ({ answer: interrupt('?') })).addNode('end', () => ({ a: 1 }))
          .addEdge('__start__', 'ask').addEdge('ask', 'end').compile();
      `,
    },
    async (dir) => {
      const bench = openLoaded(await load(join(dir, 'g.mjs')));
      await bench.restart().run({ input: { a: 0 } });
      const interruptBefore = ['end'];
      await bench.restart().run({ command: { resume: 'yes' }, interruptBefore });
      assert.deepEqual((await bench.restart().state()).next, ['end']);
      await bench.restart().run({ input: null });
      assert.deepEqual((await bench.restart().state()).values, { answer: 'yes', a: 1 });
    },
    { libraries: true },
  ));

test('a plain function that returns a graph is told how factories are recognised', () =>
  withProject(
    { 'g.mjs': `${GRAPH} export const graph = (state, config) => build().compile();` },
    async (dir) => {
      const { end } = await openLoaded(await load(join(dir, 'g.mjs'))).run({ input: {} });
      assert.equal((end as { error: string }).error, 'TypeError');
      assert.match((end as { message: string }).message, /gave a graph .* name its first parameter "config"/);
    },
    { libraries: true },
  ));

test.run();
