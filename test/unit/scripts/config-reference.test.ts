import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PAGE, writtenPage } from '../../../scripts/config-reference.ts';
import { suite } from '../../support/suite.ts';

const test = suite('scripts/config-reference');

const cellsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | +\|$/g, '').trim()));

test('the reference of the configuration is what the schemas say; "npm run format" writes it', async () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(await writtenPage(page), page);
});

test('every key and variable of the reference has a type and a meaning, and constants as defaults', async () => {
  const page = await writtenPage(
    '<!-- keys of the file -->\n<!-- end -->\n<!-- variables of the environment -->\n<!-- end -->',
  );
  const rows = cellsOf(page);
  assert.ok(rows.length > 100);
  for (const cells of rows) {
    assert.notEqual(cells.at(-1), '', cells[0]);
    assert.notEqual(cells.at(cells.length === 4 ? 1 : 2), '', cells[0]);
  }
  const found = (name: string) => rows.find(([first]) => first === name)?.slice(1);
  assert.deepEqual(found('`graphs`')?.slice(1), ['required', 'The graphs to serve.']);
  assert.deepEqual(found('`crons.catch_up_limit`')?.slice(0, 2), ['whole number, 1 to 10000', '`100`']);
  assert.deepEqual(found('`PLATFORM_CONCURRENCY`, `N_JOBS_PER_WORKER`')?.slice(1), [
    'whole number, at least 1',
    '`64`',
    'Runs that execute at once.',
  ]);
});

test.run();
