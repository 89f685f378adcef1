/** Cases of code that means what the compiler of its project would make of it. */
import { COMMON, MODULE, tsconfig, type ModuleCase } from './module-cases.ts';

/** The metadata of what is decorated, as `reflect-metadata` would keep it. */
const METADATA = `const kept = {}; Reflect.metadata = (key, value) => (target, name) => { kept[(name ?? target.name) + ' ' + key] = [value].flat().map((type) => type?.name); };
  export { kept };`;

export const COMPILER_CASES: readonly ModuleCase[] = [
  [
    'paths and options of referenced tsconfigs, by the files that each includes',
    {
      'tsconfig.json': JSON.stringify({
        files: [],
        references: [{ path: './tsconfig.node.json' }, { path: './app' }, { path: './tsconfig.app.json' }],
      }),
      'tsconfig.node.json': tsconfig({ paths: { '@/*': ['./wrong/*'] } }, { include: ['scripts'] }),
      'app/tsconfig.json': tsconfig({}, { files: [], references: [{ path: '..' }] }),
      'tsconfig.app.json': tsconfig(
        { experimentalDecorators: true },
        { extends: './tsconfig.paths.json', include: ['src'] },
      ),
      'tsconfig.paths.json': tsconfig({ paths: { '@/*': ['./src/lib/*'] } }),
      'src/main.ts': `import { name } from '@/name'; import { from } from '../scripts/main';
        const mark = (target: any) => void (target.mark = 1); @mark class A {} export const value = [name, from, (A as any).mark];`,
      'src/lib/name.ts': `export const name = 'lib';`,
      'wrong/name.ts': `export const name = 'wrong';`,
      'scripts/main.ts': `import { name } from '@/name'; export const from: string = name;`,
    },
    'src/main.ts',
    ['lib', 'wrong', 1],
  ],
  [
    'files that begin with a byte order mark',
    {
      'package.json': `\ufeff${MODULE}`,
      'tsconfig.json': `\ufeff${tsconfig({ paths: { x: ['./typed'] } })}`,
      'main.ts': `\ufeffimport json from './data.json'; import { a } from 'x'; import { b } from './plain.js'; import c from './c';
        import { d } from './lib/index.ts'; export const value = [json, a, b, c, d];`,
      'data.json': '\ufeff{"is":"json"}',
      'typed.ts': `\ufeff#!/usr/bin/env node\nexport const a: string = 'a';`,
      'plain.js': `\ufeffexport const b = 'b';`,
      'c/package.json': `\ufeff{"main":"./main.cjs"}`,
      'c/main.cjs': `\ufeffmodule.exports = 'c';`,
      'lib/package.json': `\ufeff{}`,
      'lib/index.ts': `\ufeffexport const d: string = 'd';`,
    },
    'main.ts',
    [{ is: 'json' }, 'a', 'b', 'c', 'd'],
  ],

  ...['{}', MODULE, COMMON].map((description): ModuleCase => [
    `type metadata of decorators with imported classes and interfaces, beside ${description}`,
    {
      'package.json': description,
      'tsconfig.json': tsconfig({ experimentalDecorators: true, emitDecoratorMetadata: true }),
      'metadata.mjs': METADATA,
      'types.ts': `export interface Shape { a: 1 } export type Text = 'a'; export class Real {} export class Other {} export default class Named {}
          export const value = 'value'; export type { Shape as default2 };`,
      'main.ts': `import { kept } from './metadata.mjs'; import Named, { Shape, Real as Renamed, value as said, Text, Other } from './types'; import type { Real } from './types';
          const Take = (): any => () => undefined; const other = new Other(); enum Level { A }
          @Take() class A {
            constructor(a: Shape, b: Renamed, c: Named, private d: Text, e: Real, f: Other) {}
            @Take() level: Level = Level.A; @Take() list: Renamed[] = []; @Take() self?: A;
            @Take() async go(shape: Shape, level?: Level): Promise<Named> { return said as never; }
          }
          export const value = [said, typeof other, kept];`,
    },
    'main.ts',
    [
      'value',
      'object',
      {
        'level design:type': ['Number'],
        'list design:type': ['Array'],
        'self design:type': ['A'],
        'go design:returntype': ['Promise'],
        'go design:paramtypes': ['Object', 'Number'],
        'go design:type': ['Function'],
        'A design:paramtypes': ['Object', 'Real', 'Named', 'Object', 'Object', 'Other'],
      },
    ],
  ]),
  ...(['{}', COMMON] as const).map(
    (description) =>
      [
        `the namespace of a callable CommonJS module as the function that it is, beside ${description}`,
        {
          'package.json': description,
          'node_modules/f/package.json': '{}',
          'node_modules/f/index.js': `module.exports = function f(x) { return new.target ? undefined : 'f' + x; }; module.exports.own = 'own'; module.exports.prototype.is = 'is';`,
          'node_modules/o/package.json': '{}',
          'node_modules/o/index.js': `exports.a = 'a';`,
          'es.mts': `export const e = 'e'; export default 'default';`,
          'main.ts': `import * as f from 'f'; import * as o from 'o'; import g, { own } from 'f'; import * as es from './es.mjs'; import * as path from 'node:path';
            const apply = (fn: any, x: number) => fn(x); const list = [o, es, path];
            export const value = [f(1), apply(f, 2), f.own, new f().is, (f as any).default(3), g(4), own, o.a, es.e, es.default, list.map((each) => typeof each), path.basename('/b')];`,
        },
        'main.ts',
        [
          'f1',
          'f2',
          'own',
          'is',
          'f3',
          'f4',
          'own',
          'a',
          'e',
          'default',
          ['object', 'object', 'object'],
          'b',
        ],
      ] as const,
  ),
];
