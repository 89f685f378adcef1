import * as assert from 'node:assert/strict';
import { Database } from '../../../src/store/sqlite/library.ts';
import fc from 'fast-check';
import { createRowFold } from '../../../src/store/sql/fold-writes.ts';
import type { RowWrite } from '../../../src/store/port/rows.ts';
import { createRowWriter } from '../../../src/store/sqlite/row-store.ts';
import { createStatements } from '../../../src/store/sqlite/statements.ts';
import { suite } from '../../support/suite.ts';

const test = suite('log/fold-writes');

const id = fc.constantFrom('a', 'b', 'c');
const cell = fc.constantFrom(1, 2, null);
const kind = fc.constantFrom('x', 'y');
const write: fc.Arbitrary<RowWrite> = fc.oneof(
  fc
    .record({ id, q: cell })
    .map(({ id, q }): RowWrite => ({ op: 'set', table: 't', key: { id }, set: { q } })),
  id.map((id): RowWrite => ({ op: 'set', table: 't', key: { id }, set: {}, copy: { q: 'p' } })),
  fc.record({ id, kind, p: cell, q: cell }).map((row): RowWrite => ({ op: 'put', table: 't', row })),
  fc
    .record({ id, p: cell })
    .map(({ id, p }): RowWrite => ({ op: 'set', table: 't', key: { id }, set: { p } })),
  fc
    .record({ id, p: cell })
    .map(({ id, p }): RowWrite => ({ op: 'set', table: 't', key: { id }, set: { p }, copy: { q: 'p' } })),
  fc
    .record({ kind, q: cell })
    .map(({ kind, q }): RowWrite => ({ op: 'set', table: 't', key: { kind }, set: { q } })),
  id.map((id): RowWrite => ({ op: 'drop', table: 't', key: { id } })),
  kind.map((kind): RowWrite => ({ op: 'drop', table: 't', key: { kind } })),
);

test('P2 given any writes, when they are folded, then they lead to the same rows', () => {
  fc.assert(
    fc.property(fc.array(write, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (writes, every) => {
      const rowsAfter = (apply: (each: (write: RowWrite) => void) => void): unknown => {
        const db = new Database(':memory:');
        db.exec('CREATE TABLE t (id TEXT PRIMARY KEY, kind TEXT, p, q); ');
        const prepare = createStatements(db);
        apply(createRowWriter(prepare));
        const rows = db.prepare('SELECT * FROM t ORDER BY id').all();
        db.close();
        return rows;
      };
      const expected = rowsAfter((each) => writes.forEach(each));
      const folded = rowsAfter((each) => {
        const fold = createRowFold(new Map([['t', ['id']]]), each);
        for (const [at, next] of writes.entries()) {
          fold.add(next);
          if ((at + 1) % every === 0) fold.flush();
        }
        fold.flush();
      });
      assert.deepEqual(folded, expected);
    }),
    { numRuns: 8_000 },
  );
});

test('given many facts about few rows, when their writes are folded, then each row is written once', () => {
  const written: RowWrite[] = [];
  const fold = createRowFold(new Map([['t', ['id']]]), (each) => written.push(each));
  for (const place of ['a', 'b']) fold.add({ op: 'put', table: 't', row: { id: place, p: 0, q: 7 } });
  for (let p = 1; p < 9; p++)
    for (const place of ['a', 'b'])
      fold.add({ op: 'set', table: 't', key: { id: place }, set: { p }, copy: { r: 'q' } });
  fold.flush();
  const rows = written.map((each) => each.op === 'put' && each.row);
  assert.deepEqual(rows, [
    { id: 'a', p: 8, q: 7, r: 7 },
    { id: 'b', p: 8, q: 7, r: 7 },
  ]);
});

test.run();
