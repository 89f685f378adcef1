export type Files = Record<string, string>;

export const tsconfig = (compilerOptions: object, rest: object = {}): string =>
  JSON.stringify({ compilerOptions, ...rest });
export const MODULE = '{"type":"module"}';
export const COMMON = '{"type":"commonjs"}';
const JSX = `exports.jsx = exports.jsxs = (type, props) => [type, props]; exports.Fragment = 'all';`;

/** The `value` that the main file exports; undefined: anything. */
export type ModuleCase = readonly [title: string, files: Files, main: string, value: unknown];

export const CASES: readonly ModuleCase[] = [
  [
    'enum and const enum',
    {
      'main.ts': `import { Far } from './far'; enum Near { A = 1, B = A << 2 } const enum Local { X = 'x' }
        export const value = [Near.B, Near[1], Local.X, Far.Y];`,
      'far.ts': `export const enum Far { Y = 7 }`,
    },
    'main.ts',
    [4, 'A', 'x', 7],
  ],
  [
    'namespace',
    {
      'main.ts': `namespace N { export const a = 1; export namespace M { export const b = a + 1; } } export const value = N.M.b;`,
    },
    'main.ts',
    2,
  ],
  [
    'parameter properties',
    {
      'main.ts': `class A { constructor(private readonly a: number, public b = 2) {} sum() { return this.a + this.b; } } export const value = new A(1).sum();`,
    },
    'main.ts',
    3,
  ],
  [
    'class fields of an older target',
    {
      'tsconfig.json': tsconfig({ target: 'ES2020' }),
      'main.ts': `class Base { constructor() { this.fill(); } fill() {} } class A extends Base { x: number; fill() { this.x = 1; } }
        class B { constructor(private y: number) {} z = this.y; } export const value = [new A().x, new B(2).z];`,
    },
    'main.ts',
    [1, 2],
  ],
  [
    'legacy decorators',
    {
      'tsconfig.json': tsconfig({ experimentalDecorators: true, emitDecoratorMetadata: true }),
      'main.ts': `const seen: unknown[] = [];
        const named = (name: string) => (target: any, key?: any, at?: any) => void seen.push([name, key ?? target.name, typeof at]);
        const loud = (_: any, __: string, d: PropertyDescriptor) => ({ ...d, value: () => d.value() + '!' });
        const sealed = <T extends new () => object>(Base: T) => class extends Base { sealed = true };
        @sealed @named('first') @named('second') class A {
          @named('field') a = 1; @loud say() { return 'hi'; } take(@named('parameter') x: string) { return x; } @named('static') static s() {}
          constructor() {}
        }
        export const value = [seen, new A().say(), (new A() as any).sealed];`,
    },
    'main.ts',
    [
      [
        ['field', 'a', 'undefined'],
        ['parameter', 'take', 'number'],
        ['static', 's', 'object'],
        ['second', 'A', 'undefined'],
        ['first', 'A', 'undefined'],
      ],
      'hi!',
      true,
    ],
  ],
  [
    'JSX with the import source of the tsconfig',
    {
      'tsconfig.json': tsconfig({ jsx: 'react-jsx', jsxImportSource: 'mini' }),
      'node_modules/mini/package.json': '{"exports":{"./jsx-runtime":"./jsx.js"}}',
      'node_modules/mini/jsx.js': JSX,
      'main.tsx': `const T = <X,>(x: X) => x; export const value = T(<a b="1"><></></a>);`,
    },
    'main.tsx',
    ['a', { b: '1', children: ['all', {}] }],
  ],
  [
    'JSX with a factory of the tsconfig',
    {
      'tsconfig.json': tsconfig({ jsx: 'react', jsxFactory: 'h' }),
      'h.ts': `export const h = (...all: unknown[]) => all;`,
      'main.jsx': `import { h } from './h'; export const value = <a b="1">c</a>;`,
    },
    'main.jsx',
    ['a', { b: '1' }, 'c'],
  ],
  [
    'type-only imports that are not marked',
    {
      'main.ts': `import { RunnableConfig } from 'types-only'; import { T, real } from './types';
        export const value = (config?: RunnableConfig): T => real; export { value as f }`,
      'types.ts': `export interface T {} export const real = 1;`,
    },
    'main.ts',
    undefined,
  ],
  [
    'top-level await and dynamic import',
    {
      'main.ts': `export const value: string = (await import('./late')).late;`,
      'late.ts': `export const late: string = await 'late';`,
    },
    'main.ts',
    'late',
  ],
  [
    'paths of an extended tsconfig',
    {
      'base/tsconfig.base.json': tsconfig({
        baseUrl: '..',
        paths: { '@/*': ['src/*'], exact: ['src/other.ts'] },
      }),
      'tsconfig.json': JSON.stringify({ extends: './base/tsconfig.base.json' }),
      'src/main.ts': `import { a } from '@/lib/a.js'; import { b } from 'exact'; import { c } from 'src/lib'; import { basename } from 'path'; export const value = [a, b, c, basename('x/y')];`,
      'src/lib/a.ts': `export const a = 1;`,
      'src/lib/index.ts': `export const c = 3;`,
      'src/other.ts': `export const b = 2;`,
      'src/path.ts': ``,
      'path.ts': `throw new Error('path');`,
    },
    'src/main.ts',
    [1, 2, 3, 'y'],
  ],
  [
    'paths of the tsconfig nearest to each file',
    {
      'tsconfig.json': tsconfig({ paths: { '#it': ['./outer.ts'] } }),
      'outer.ts': `export const it = 'outer';`,
      'main.ts': `import { it } from '#it'; import { inner } from './inner/use'; export const value = [it, inner];`,
      'inner/tsconfig.json': tsconfig({ paths: { '#it': ['./it.ts'] } }),
      'inner/it.ts': `export const it = 'inner';`,
      'inner/use.ts': `export { it as inner } from '#it';`,
    },
    'main.ts',
    ['outer', 'inner'],
  ],
  [
    'suffixes that mean TypeScript',
    {
      'package.json': MODULE,
      'main.ts': `import { a } from './a.js'; import { b } from './b.mjs'; import { c } from './c.jsx'; import { d } from './d.js'; import e from './e.cjs'; export const value = [a, b, c, d, e.e];`,
      'a.ts': `export const a: number = 1;`,
      'a.js': `export const a = 'output';`,
      'b.mts': `export const b: number = 2;`,
      'c.tsx': `export const c: number = 3;`,
      'd.tsx': `export const d: number = 4;`,
      'e.cts': `exports.e = 5 as number;`,
    },
    'main.ts',
    [1, 2, 3, 4, 5],
  ],
  [
    'JavaScript that names JavaScript beside a source',
    {
      'package.json': MODULE,
      'main.js': `export { a as value } from './a.js';`,
      'a.js': `export const a = 'js';`,
      'a.ts': `export const a = 'ts';`,
    },
    'main.js',
    'js',
  ],
  [
    'no extension and folders',
    {
      'package.json': MODULE,
      'src/main.ts': `import { a } from './a'; import { b } from './b'; import { c } from './c.config'; import { d } from '..'; import { e } from '../e/'; export const value = [a, b, c, d, e];`,
      'src/a.tsx': `export const a = 1;`,
      'src/b/index.ts': `export const b = 2;`,
      'src/c.config.ts': `export const c = 3;`,
      'index.js': `export const d = 4;`,
      'e/package.json': '{"type":"module","main":"lib/e.js"}',
      'e/lib/e.ts': `export const e = 5;`,
    },
    'src/main.ts',
    [1, 2, 3, 4, 5],
  ],
  [
    'files of packages without extension',
    {
      'package.json': MODULE,
      'node_modules/old/package.json': '{"name":"old"}',
      'node_modules/old/part.js': `exports.part = 1;`,
      'main.ts': `import { part } from 'old/part'; export const value = part;`,
    },
    'main.ts',
    1,
  ],
  [
    'CommonJS neighbours of an ES module',
    {
      'package.json': MODULE,
      'main.ts': `import { a, more } from './a.cjs'; import { b } from './b.cts'; import c from './old/c.js'; import { d, e, default as all } from './old/d';
        export const value = [a, more, b, c.c, d, e, all.default];`,
      'a.cjs': `exports.a = 1; exports.more = require('./more.ts').more;`,
      'more.ts': `export const more: number = 2;`,
      'b.cts': `import { c } from './old/c.js'; export const b: number = c;`,
      'old/package.json': COMMON,
      'old/c.js': `module.exports = { c: 3 };`,
      'old/d.ts': `export const d: number = 4; export * from './e'; export default 6;`,
      'old/e.ts': `export const e: number = 5;`,
    },
    'main.ts',
    [1, 2, 3, 3, 4, 5, 6],
  ],
  [
    'dynamic import and default export in CommonJS',
    {
      'package.json': COMMON,
      'main.ts': `export const value = import('./late').then(({ default: late, x }) => [late, x]); export default 'main';`,
      'late.ts': `export const x = 1; export default 'late';`,
    },
    'main.ts',
    ['late', 1],
  ],
  [
    'a CommonJS package of TypeScript',
    {
      'package.json': COMMON,
      'main.ts': `import a, { b as renamed } from './a'; import * as all from './a'; import plain from './plain'; import * as plains from './plain';
        import fs = require('node:fs'); import { T } from './types';
        export const value = [a, renamed, Object.keys(all).sort(), plain.c, plains.c, typeof fs.statSync, typeof module, __filename.endsWith('main.ts')];
        export let changed = 1; changed = 2; export const t: T = 1;`,
      'a.ts': `import { changed } from './main'; export default class A { static is = 'A' } export const b = () => changed;`,
      'plain.js': `module.exports = { c: 3 };`,
      'types.ts': `export type T = number;`,
    },
    'main.ts',
    undefined,
  ],
  [
    'no type, module syntax and names of CommonJS',
    {
      'main.ts': `import path from 'node:path'; import other from './other';
        export const value = [path.basename(__filename), path.basename(__dirname).length > 0, require('./data.cjs').x, other, await 1];`,
      'other.js': `import { createRequire } from 'node:module'; import { dirname } from 'node:path'; const __dirname = dirname(new URL(import.meta.url).pathname);
        const require = createRequire(import.meta.url); export default [typeof __dirname, require('./data.cjs').x];`,
      'data.cjs': `exports.x = 1;`,
    },
    'main.ts',
    ['main.ts', true, 1, ['string', 1], 1],
  ],
  [
    'no type, words in CommonJS that begin statements of modules',
    {
      'main.js': `const all = Promise.all([
          import('node:path'),
        ]);
        const words = {
          import: require('node:fs'),
          export: typeof module,
        };
        exports.value = [typeof words.import.statSync, words.export];`,
    },
    'main.js',
    ['function', 'object'],
  ],
  [
    'byte order marks and interpreter lines',
    {
      'main.ts': `\uFEFFimport { b } from './b'; import c from './c.json'; export const value = [b, c.c];`,
      'b.ts': `#!/usr/bin/env node\nexport const b: string = __filename.at(-1);`,
      'c.json': `\uFEFF{"c":2}`,
    },
    'main.ts',
    ['s', 2],
  ],
  [
    'no type, import beside module.exports',
    {
      'main.ts': `import { basename } from 'node:path'; const value: string = basename('a/b'); module.exports = { value };`,
    },
    'main.ts',
    'b',
  ],
  [
    'JSON',
    {
      'package.json': MODULE,
      'main.ts': `import all from './data.json'; import { name } from './data.json'; import marked from './data.json' with { type: 'json' };
        import { common } from './use.cjs'; export const value = [all.name, name, marked['a-b'], common];`,
      'data.json': '{"name":"n","a-b":1,"class":2}',
      'use.cjs': `exports.common = require('./data').name;`,
    },
    'main.ts',
    ['n', 'n', 1, 'n'],
  ],
];
