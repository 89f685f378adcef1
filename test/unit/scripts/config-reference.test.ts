import * as assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PAGE, SCHEMA, writtenPage, writtenSchema } from '../../../scripts/config-reference.ts';
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

test('the JSON Schema is what the settings say, and editors find with it what the server would warn of', async () => {
  const text = readFileSync(SCHEMA, 'utf8');
  assert.equal(await writtenSchema(), text);
  const schema = z.fromJSONSchema(JSON.parse(text) as never);
  const accepts = (file: object): boolean => schema.safeParse({ graphs: { a: './a.ts' }, ...file }).success;
  for (const file of [
    { $schema: './platform.schema.json', node_version: '24', env: '.env', recording: { env: ['TZ'] } },
    { graphs: { a: { path: './a.ts', description: 'A graph' } }, http: { cors: { max_age: 5 } } },
    { auth: { path: './auth.ts', openapi: { paths: {}, anything: 1 } }, webhooks: { timeout_secs: 0.5 } },
  ])
    assert.ok(accepts(file), JSON.stringify(file));
  for (const file of [
    ...[{ graphs: { 'a b': './a.ts' } }, { htp: {} }, { http: { max_body_bytes: 9 } }],
    ...[{ auth: {} }, { auth: { path: './a.ts', cach: {} } }, { store: { index: { embed: './e.ts' } } }],
  ])
    assert.ok(!accepts(file), JSON.stringify(file));
  assert.deepEqual(JSON.parse(text).required, ['graphs']);
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
