import * as assert from 'uvu/assert';
import { openImporters } from '../../../src/dev/importers.ts';
import { suite } from '../../support/suite.ts';

const test = suite('dev/importers');

const GRAPHS = [
  { id: 'a', file: '/a.ts' },
  { id: 'b', file: '/b.ts' },
];

test('a file belongs to the graphs that import it, directly, through others and in circles', () => {
  const importers = openImporters();
  for (const [file, importer] of [
    ['/words.ts', '/a.ts'],
    ['/deep.ts', '/words.ts'],
    ['/words.ts', '/deep.ts'],
    ['/both.ts', '/deep.ts'],
    ['/both.ts', '/b.ts'],
  ] as const)
    importers.note(file, importer);
  const of = (...files: string[]) => importers.graphsOf(files, GRAPHS).join();
  assert.equal(
    [of('/a.ts'), of('/deep.ts'), of('/both.ts'), of('/b.ts', '/words.ts')],
    ['a', 'a', 'a,b', 'a,b'],
  );
});

test('a file that nothing imports belongs to all graphs', () => {
  const importers = openImporters();
  importers.note('/tsconfig.json', undefined);
  assert.equal(importers.graphsOf(['/tsconfig.json'], GRAPHS), ['a', 'b']);
});

test.run();
