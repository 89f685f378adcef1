import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config/load.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('the crons block');

const load = (crons?: unknown, http = {}) =>
  withTempDir(async (dir) => {
    const file = join(dir, 'platform.json');
    writeFileSync(
      file,
      JSON.stringify({ graphs: { a: './a.ts' }, http, ...(crons !== undefined && { crons }) }),
    );
    return loadConfig({}, {}, dir);
  });

test('a crons block is read; by default one run catches up', async () => {
  assert.deepEqual((await load()).crons, { catchUp: 'one', catchUpLimit: 100 });
  const { crons, warnings } = await load({ catch_up: 'all', catch_up_limit: 7 });
  assert.deepEqual([crons, warnings], [{ catchUp: 'all', catchUpLimit: 7 }, []]);
  assert.deepEqual((await load({ catch_up: 'none' })).crons.catchUp, 'none');
  assert.deepEqual((await load({ zone: 'UTC' })).warnings.length, 1);
  const { http, warnings: none } = await load(undefined, { disable_crons: true });
  assert.deepEqual([[...http.disabled], none], [['crons'], []]);
});

test.run();
