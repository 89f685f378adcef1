import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSourceAnalysis } from '../../../src/graphs/schemas/source-analysis.ts';
import { readThrough } from '../../../src/graphs/schemas/source-cache.ts';
import { readSourceFile } from '../../../src/graphs/schemas/source-reader.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('graphs/schemas: what types say');

/** A value of the shape by which a compiled graph is recognised, with this state. */
const GRAPH = `
type Graph<S, C = object> = {
  '~InputType': Partial<S>; '~OutputType': S; '~RunOutput': S;
  invoke(input: unknown, options?: { context?: C }): Promise<S>;
};
`;

function inProject<T>(files: Record<string, string>, use: (dir: string) => T | Promise<T>): Promise<T> {
  return withTempDir(async (dir) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text);
    }
    return use(dir);
  });
}

test('the settings of a graph are the type of configurable where the library knows no context', () =>
  inProject(
    {
      'graph.ts': `export declare const graph: { '~InputType': object; '~OutputType': object;
        invoke(input: unknown, options?: { configurable?: { prompt: string } }): Promise<object> };`,
    },
    (dir) => {
      const report = readSourceFile({ file: join(dir, 'graph.ts'), exportNames: ['graph'] });
      assert.deepEqual(report['graph']?.schemas.config?.['properties'], { prompt: { type: 'string' } });
    },
  ));

const stateOf = (text: string): Promise<any> =>
  inProject({ 'graph.ts': `${GRAPH}\n${text}` }, (dir) => {
    const report = readSourceFile({ file: join(dir, 'graph.ts'), exportNames: ['graph', 'default'] });
    return (report['graph'] ?? report['default'])?.schemas.state;
  });

test('given types of every sort, when they are read, then each member is what JSON can say of it', async () => {
  const state = await stateOf(`
    enum Size { Small = 'small', Large = 'large' }
    class Thing { name = ''; #hidden = 1; rename(): void {} }
    interface Tree { value: number; left?: Tree; right: Tree | null }
    interface State {
      text: string; count: number; flag: boolean; nothing: null; big: bigint; yes: true; three: 3;
      maybe?: string; either: string | number; choice: 'a' | 'b' | undefined; size: Size;
      list: readonly string[]; pair: [string, number?]; dict: Record<string, string[]>;
      at: Date; thing: Thing; branded: string & { readonly brand: 1 }; both: { a: 1 } & { b: 'x' };
      anything: any; unknown: unknown; bag: Map<string, number>; bytes: Uint8Array; path: \`/\${string}\`;
      run(): void; callback: () => void; tree: Tree; json: object;
      /** Said of it. */
      told: string;
    }
    export declare const graph: Graph<State>;`);
  const { properties, definitions, required } = state;
  assert.deepEqual(properties, {
    ...{ text: { type: 'string' }, count: { type: 'number' }, flag: { type: 'boolean' } },
    ...{ nothing: { type: 'null' }, big: { type: 'integer' }, maybe: { type: 'string' } },
    ...{ yes: { type: 'boolean', const: true }, three: { type: 'number', const: 3 } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    choice: { type: 'string', enum: ['a', 'b'] },
    size: { type: 'string', enum: ['small', 'large'] },
    list: { type: 'array', items: { type: 'string' } },
    pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 1, maxItems: 2 },
    dict: {
      type: 'object',
      properties: {},
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
    at: { type: 'string', format: 'date-time' },
    thing: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    branded: { type: 'string' },
    both: {
      type: 'object',
      properties: { a: { type: 'number', const: 1 }, b: { type: 'string', const: 'x' } },
      required: ['a', 'b'],
    },
    ...{ anything: {}, unknown: {}, bag: {}, bytes: {}, json: {}, path: { type: 'string' } },
    tree: { $ref: '#/definitions/Tree' },
    told: { type: 'string', description: 'Said of it.' },
  });
  assert.deepEqual(definitions, {
    Tree: {
      type: 'object',
      properties: {
        value: { type: 'number' },
        left: { $ref: '#/definitions/Tree' },
        right: { anyOf: [{ type: 'null' }, { $ref: '#/definitions/Tree' }] },
      },
      required: ['value', 'right'],
    },
  });
  for (const name of ['maybe', 'choice', 'run', 'callback']) assert.ok(!required.includes(name), name);
  assert.ok(required.includes('text') && required.includes('nothing'));
});

test('given a type that grows for ever, when it is read, then it ends somewhere', async () => {
  const state = await stateOf(`
    interface Box<T> { inner: Box<T[]>; value: T }
    export declare const graph: Graph<{ box: Box<string> }>;`);
  assert.ok(JSON.stringify(state).length < 20_000);
});

test('given promises, builders, wrappers and functions, when they are read, then all lead to the graph', () =>
  inProject(
    {
      'graph.ts': `${GRAPH}
        type G = Graph<{ a: string }>;
        export default null as unknown as Promise<G>;
        export declare const builder: { compile(options?: object): G };
        export declare const wrapper: { graph: G };
        export const maker = async (config: object) => null as unknown as G;
        declare const inner: G; export { inner as renamed };
        export const number = 1; export const any: any = 1;`,
    },
    (dir) => {
      const found = ['default', 'builder', 'wrapper', 'maker', 'renamed'];
      const exportNames = [...found, 'number', 'any', 'missing'];
      const report = readSourceFile({ file: join(dir, 'graph.ts'), exportNames });
      const states = exportNames.map((name) => [name, report[name]?.schemas.state?.['properties']]);
      assert.deepEqual(
        states,
        exportNames.map((name) => [name, found.includes(name) ? { a: { type: 'string' } } : undefined]),
      );
    },
  ));

test('types are read from JavaScript, and despite a type error with paths of a tsconfig', () =>
  inProject(
    {
      'tsconfig.json':
        '{ "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["lib/*"] }, "strict": false } }',
      'lib/state.ts': 'export interface State { deep?: { text: string | null } }',
      'graph.ts': `${GRAPH} import type { State } from '@/state'; const wrong: number = 'x';
        export declare const graph: Graph<State, { model_name: string }>;`,
      'plain.js': '/** @param {{ question: string }} state */\nexport const plain = (state) => state;',
    },
    (dir) => {
      const { graph } = readSourceFile({ file: join(dir, 'graph.ts'), exportNames: ['graph', 'missing'] });
      const text = { anyOf: [{ type: 'null' }, { type: 'string' }] };
      assert.deepEqual(graph?.schemas.state?.['properties'], {
        deep: { type: 'object', properties: { text }, required: ['text'] },
      });
      assert.deepEqual(graph?.schemas.config?.['properties'], { model_name: { type: 'string' } });
      const { plain } = readSourceFile({ file: join(dir, 'plain.js'), exportNames: ['plain'] });
      assert.deepEqual(
        [plain?.kind, plain?.schemas.input?.['properties']],
        ['function', { question: { type: 'string' } }],
      );
    },
  ));

test('a reading that takes too much processor time or fails is told and tried anew, and a good one is kept', () =>
  inProject(
    { 'graph.ts': `${GRAPH} export declare const graph: Graph<{ a: string }>;`, 'empty.ts': '' },
    async (dir) => {
      const faults: string[] = [];
      const [file, empty] = [join(dir, 'graph.ts'), join(dir, 'empty.ts')];
      const open = (limitMs: number) =>
        createSourceAnalysis({
          exports: [file, empty].map((each) => ({ file: each, exportName: 'graph' })),
          limitMs,
          cache: { dir: join(dir, 'cache'), version: '1' },
          onFault: (error) => faults.push((error as Error).message),
        });
      const hasty = open(5);
      for (const count of [1, 2]) {
        assert.equal(await hasty.read(file, 'graph'), undefined);
        assert.deepEqual(
          faults,
          Array.from({ length: count }, () => `reading ${file} took more than 5 ms of processor time`),
        );
      }
      faults.length = 0;
      const analysis = open(100_000);
      const [first, second] = await Promise.all([analysis.read(file, 'graph'), analysis.read(file, 'graph')]);
      assert.equal(first?.kind, 'graph');
      assert.equal(second, first);
      assert.equal(await analysis.read(file, 'graph'), first);
      assert.equal(await analysis.read(file, 'other'), undefined);
      assert.equal(await analysis.read(empty, 'graph'), undefined);
      assert.match(faults[0] ?? '', /empty\.ts is no module/);
      assert.equal(faults.length, 1);
      assert.deepEqual(await open(100_000).read(file, 'graph'), first);
      const under = analysis.read(empty, 'graph');
      await analysis.close();
      assert.equal(await under, undefined);
      assert.equal(await analysis.read(empty, 'graph'), undefined);
    },
  ));

test('a report is kept for as long as no file that its reading read or missed has changed', () =>
  inProject({ 'graph.ts': '', 'state.ts': 'a' }, (dir) => {
    const [graph, state, tsconfig] = ['graph.ts', 'state.ts', 'tsconfig.json'].map((name) => join(dir, name));
    let readings = 0;
    const read = (version = '1'): string => {
      const question = { file: graph!, exportNames: ['graph'] };
      const report = readThrough({ dir: join(dir, 'cache'), version }, question, (note) => {
        readings += 1;
        [graph, state, tsconfig].forEach((path) => note(path!));
        const title = readFileSync(state!, 'utf8');
        return { graph: { kind: 'graph', schemas: { state: { title } }, subgraphs: {} } };
      });
      return String(report['graph']?.schemas.state?.['title']);
    };
    assert.deepEqual([read(), read(), readings], ['a', 'a', 1]);
    writeFileSync(state!, 'b');
    assert.deepEqual([read(), read(), readings], ['b', 'b', 2]);
    writeFileSync(tsconfig!, '{}');
    assert.deepEqual([read(), read(), readings], ['b', 'b', 3]);
    assert.deepEqual([read('2'), readings], ['b', 4]);
    // A file that is no report is written anew.
    for (const name of readdirSync(join(dir, 'cache'))) writeFileSync(join(dir, 'cache', name), '{');
    assert.deepEqual([read(), read(), readings], ['b', 'b', 5]);
  }));

test('a reading notes every file of its program and where it looked for options', () =>
  inProject(
    {
      'lib/graph.ts': `${GRAPH} import type { S } from './state.ts'; export declare const graph: Graph<S>;`,
      'lib/state.ts': 'export interface S { a: string }',
      'tsconfig.json': '{ "extends": "./base.json" }',
      'base.json': '{}',
    },
    (dir) => {
      const noted = new Set<string>();
      readSourceFile({ file: join(dir, 'lib/graph.ts'), exportNames: [] }, (path) => noted.add(path));
      for (const name of ['lib/graph.ts', 'lib/state.ts', 'lib/tsconfig.json', 'tsconfig.json', 'base.json'])
        assert.ok(noted.has(join(dir, name)), name);
    },
  ));

test.run();
