import * as assert from 'uvu/assert';
import { Database } from '../../../src/store/sqlite/library.ts';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Finding } from '../../../src/store/port/past.ts';
import { openHistory } from '../../../src/store/sqlite/history.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { verify } from '../../../src/past/verify/verify.ts';
import { suite } from '../../support/suite.ts';
import { withServer } from '../../support/with-server.ts';

const test = suite('replay, payload checks');

const DAMAGE: readonly (readonly [sql: string, problem: RegExp, positioned: boolean])[] = [
  ['DELETE FROM frames WHERE first = 0', /frames have a gap/, false],
  [
    "UPDATE frames SET bases = '[77]', size = 1 WHERE first = 0",
    /text in row \d+ of frames has a delta base that is gone/,
    false,
  ],
  [
    "DELETE FROM texts WHERE kind = 'c' AND id = (SELECT min(id) FROM texts WHERE kind = 'c')",
    /checkpoint \S+ is missing/,
    true,
  ],
  [
    "UPDATE texts SET bases = '[999]', size = 1 WHERE kind = 'v'",
    /text in row \d+ of texts has a delta base that is gone/,
    false,
  ],
  ["INSERT INTO queue VALUES ('a', 1)", /thread a: its row in the queue/, false],
  ["INSERT INTO secrets VALUES ('a', 'b', 'c', 0)", /a secret outlived/, false],
  ["INSERT INTO cron_secrets VALUES ('a', 'b', 0)", /cron a: a secret outlived/, false],
  ["UPDATE events SET data = '{' WHERE type = 'RunStarted'", /cannot be read/, true],
  ["UPDATE events SET type = 'RunPaused' WHERE type = 'RunStarted'", /RunPaused is unknown/, true],
];

async function findingOf(dir: string): Promise<Finding | undefined> {
  const history = openHistory(dir, projection);
  try {
    return (await verify(history)).finding;
  } finally {
    await history.close();
  }
}

test('S1 A4 X2 P3 given a log with damage that no row shows, when it is verified, then the damage is named', () =>
  withServer({}, async (s) => {
    const { thread_id: thread } = (await s.request('POST', '/threads', {})).json;
    await s.request('POST', `/threads/${thread}/runs/wait`, { assistant_id: 'steps', input: {} });
    await s.stop();
    for (const [index, [sql, problem, positioned]] of DAMAGE.entries()) {
      const copy = join(s.dir, `copy-${index}`);
      await cp(join(s.dir, 'data'), copy, { recursive: true });
      const db = new Database(join(copy, 'log.db'));
      db.exec(sql);
      db.close();
      const finding = await findingOf(copy);
      assert.match(finding?.problem ?? '', problem, sql);
      assert.is(finding?.position !== undefined, positioned, sql);
    }
    assert.is(await findingOf(join(s.dir, 'data')), undefined);
  }));

test.run();
