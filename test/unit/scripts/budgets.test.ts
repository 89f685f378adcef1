import * as assert from 'uvu/assert';
import { checkBudgets, countLines } from '../../../scripts/budgets.ts';
import { suite } from '../../support/suite.ts';

const test = suite('scripts/budgets');

const lines = (count: number): string => 'const a = 1;\n'.repeat(count);

test('lines count for the innermost folder of the table', () => {
  const files = [
    { file: 'src/main.ts', text: lines(3) },
    { file: 'src/store/sqlite/log.ts', text: lines(5) },
    { file: 'scripts/a.ts', text: lines(7) },
  ];
  assert.equal(countLines(files, ['src', 'src/store']), { src: 3, 'src/store': 5 });
});

test('a folder above its budget is named, and so is a budget that leaves room to grow', () => {
  const check = (count: number, most: number) =>
    checkBudgets([{ file: 'src/a.ts', text: lines(count) }], { src: most });
  assert.equal(check(200, 200), []);
  assert.equal(check(200, 300), []);
  assert.match(check(201, 200)[0]!, 'src has 201 lines, budget 200: delete some');
  assert.match(check(199, 300)[0]!, 'src has 199 lines, budget 300: lower it');
});

test('an SQL statement outside of the store is named with its line', () => {
  const text = `const a = 1;\nconst rows = db.all(\`SELECT * FROM runs\`);`;
  const check = (file: string) => checkBudgets([{ file, text }], {});
  assert.equal(check('src/app/a.ts'), ['src/app/a.ts:2 has SQL: only the store may']);
  assert.equal(check('src/store/sql/a.ts'), []);
  assert.equal(check('test/a.ts'), []);
});

test.run();
