/** The files of earlier versions: each format that a release wrote is opened, and reads as it did. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import { LOG_FILE } from '../../../src/store/sqlite/log.ts';
import { FORMAT } from '../../../src/store/sqlite/schema.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import {
  columnsOf,
  fromSql,
  KINDS,
  keysOf,
  openLogIn,
  shapeOf,
  sqlFile,
} from '../../fixtures/formats/file.ts';
import { assertLived } from '../../fixtures/formats/life.ts';
import { assertVerified } from '../../support/assert-verified.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';

const test = suite('store, formats');

/** All formats from the first that a release wrote. */
const FORMATS = [100] as const;

for (const format of FORMATS)
  for (const kind of KINDS)
    test(`a log of format ${format} (${kind}) opens, verifies and reads as it was written (P2, P3, S2)`, () =>
      withTempDir(async (dir) => {
        fromSql(dir, sqlFile(format, kind));
        for (let opens = 0; opens < 2; opens++) {
          const log = openLogIn(dir, kind, createManualClock());
          await assertLived(log);
          await log.close();
          await assertVerified(dir, keysOf(kind));
        }
      }));

test('a change of a table raises the format, or of a derived table the version of the rows', () =>
  withTempDir(async (dir) => {
    // Given a new log, and the file of its format
    const [made, kept] = [join(dir, 'made'), join(dir, 'kept')];
    await openLogIn(made, 'plain', createManualClock()).close();
    mkdirSync(kept);
    fromSql(kept, sqlFile(FORMAT, 'plain'));
    // Then tables of content are the same in both, and so are derived ones of the same version
    const look = (of: string) => {
      const db = openConnection(join(of, LOG_FILE), { readonly: true });
      const version = db.prepare("SELECT value FROM meta WHERE key = 'projection'").pluck().get();
      const [derived, content] = [true, false].map((isDerived) =>
        shapeOf(db)
          .filter(({ table }) => (table in projection.schema || table === 'thread_pairs') === isDerived)
          // The text of a table may be another one for the same columns.
          .map(({ table, sql }) => (sql.startsWith('CREATE TABLE') ? columnsOf(db, table) : sql))
          .sort(),
      );
      db.close();
      return { version, derived, content };
    };
    const [now, then] = [look(made), look(kept)];
    const advice =
      'raise FORMAT, or before a release write the files of the format again (test/fixtures/formats)';
    assert.deepEqual(now.content, then.content, advice);
    if (now.version === then.version)
      assert.deepEqual(now.derived, then.derived, `raise VERSION, or ${advice}`);
  }));

test.run();
