import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('support/temp-dir');

test('given a borrowed directory with files in it, when its user returns or throws, then it is gone', async () => {
  const seen: string[] = [];
  const fill = async (dir: string) => {
    seen.push(dir);
    await mkdir(join(dir, 'a/b'), { recursive: true });
    await writeFile(join(dir, 'a/b/c'), 'x');
    return 'value';
  };
  assert.is(await withTempDir(fill), 'value');
  const error: unknown = await withTempDir(async (dir) => {
    await fill(dir);
    throw new Error('boom');
  }).catch((thrown: unknown) => thrown);
  assert.match(String(error), 'boom');
  assert.is(new Set(seen).size, 2);
  assert.equal(seen.filter(existsSync), []);
});

test.run();
