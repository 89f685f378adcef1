import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { checkTitles } from '../../../scripts/titles.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('scripts/titles');

function check(a: string, b: string) {
  return withTempDir(async (root) => {
    await mkdir(join(root, 'test/unit'), { recursive: true });
    await writeFile(join(root, 'test/unit/a.test.ts'), a);
    await writeFile(join(root, 'test/b.contract.ts'), b);
    return checkTitles(root);
  });
}

test('a title used in two files is reported with both places', async () => {
  const { clashes } = await check(`\ntest('same', f);`, `test(\n  "same", f);`);
  assert.equal(clashes, ['test/unit/a.test.ts:2 has the title of test/b.contract.ts:2: same']);
});

test('titles that differ, or repeat only in comments and strings, are accepted', async () => {
  const { clashes, titles } = await check(
    `test('one', f); // test('one', f)`,
    `test('two', f); check("test('one', f)"); contest('one'); pattern.test('one');`,
  );
  assert.equal(clashes, []);
  assert.is(titles, 2);
});

test.run();
