import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../src/store/port/events.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, committed, grant, said } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, rows');

const projection = fakeProjection();
const deleted: DomainEvent = { type: 'ThreadDeleted', data: { threadId: 't' } };

test('P1 given commits, when rows are read after each, then put, set and drop have happened', () =>
  withLog(
    async ({ log, rows }) => {
      const streams = () => rows.all('SELECT * FROM streams ORDER BY stream').map((row) => ({ ...row }));
      await log.commit(batch([append('a', 0, 'x'), append('b', 0, 'y')]));
      assert.deepEqual(streams(), [
        { stream: 'a', version: 1 },
        { stream: 'b', version: 1 },
      ]);
      await log.commit(batch([append('b', 1, 'y', 'y')]));
      assert.deepEqual(streams(), [
        { stream: 'a', version: 1 },
        { stream: 'b', version: 3 },
      ]);
      await log.commit(batch([{ stream: 'a', expected: 1, events: [deleted] }]));
      assert.deepEqual(streams(), [{ stream: 'b', version: 3 }]);
      await log.commit(batch([append('b', 1, 'conflict')]));
      assert.equal(rows.get('SELECT count(*) AS n FROM facts')?.['n'], 5);
    },
    { projection },
  ));

test('P1 given a value that is SQL, when a projection writes it, then it is bound and stays a value', () =>
  withLog(
    async ({ log, rows }) => {
      const hostile = `'); DROP TABLE facts; --`;
      await log.commit(batch([{ stream: hostile, expected: 0, events: [said(hostile)] }]));
      assert.equal(
        rows.get('SELECT says FROM facts WHERE id = @id', { id: `${hostile}#1` }) !== undefined,
        true,
      );
    },
    { projection },
  ));

test('events, snapshots, leases, receipts and rows survive a close', () =>
  withLog(
    async (given) => {
      const { log, reopen } = given;
      const lease = { runId: 'r', attempt: 1, leaseId: 'l' };
      const once = batch([{ ...append('s', 0, 'a', 'b'), snapshot: { n: 2 } }], { repeatable: true });
      const events = committed(await log.commit(once));
      await grant(log, lease);
      const again = await reopen();
      assert.deepEqual(await again.readAll(0, 2), events);
      assert.deepEqual(await again.loadSnapshot('s'), { version: 2, state: { n: 2 } });
      assert.deepEqual((await again.commit(once)).kind, 'duplicate');
      assert.equal(given.rows.all('SELECT * FROM facts').length, 5);
      const [next] = committed(await again.commit(batch([append('s', 2, 'c')], { lease })));
      assert.deepEqual([next?.meta.position, next?.meta.version], [6, 3]);
    },
    { projection },
  ));

test('P2 a projection of another version has its rows rebuilt from all events', () =>
  withLog(
    async (given) => {
      const { log, reopen } = given;
      // More than one window and page of the rebuild, and a purge: deleted facts are no longer projected.
      for (let i = 0; i < 3; i++)
        await log.commit(batch([append(`s${i}`, 0, ...Array<string>(900).fill('x'))]));
      await log.commit(
        batch([{ stream: 's1', expected: 900, events: [deleted] }], {
          payloads: [{ kind: 'purge-thread', threadId: 't', stream: 's1', tombstone: 901 }],
        }),
      );
      const renamed = fakeProjection({ version: '2', say: ({ type }) => `${type}!` });
      const extra = { key: 'a', columns: { a: 'text' } } as const;
      const next = await reopen({ ...renamed, schema: { ...renamed.schema, extra } });
      const count = (where: string) =>
        given.rows.get<{ n: number }>(`SELECT count(*) AS n FROM facts WHERE ${where}`)?.n;
      assert.equal(count('1'), 1801);
      assert.equal(count(`says = 'ThreadUpdated!'`), 1800);
      assert.equal(
        given.rows.get('SELECT version FROM streams WHERE stream = @s', { s: 's2' })?.['version'],
        900,
      );
      await next.commit(batch([append('s2', 900, 'live')]));
      assert.equal(count(`says = 'ThreadUpdated!'`), 1801);
      // Back to the first version: the table that only the second one had is gone.
      await reopen(projection);
      assert.throws(() => given.rows.all('SELECT * FROM extra'), /no such table/);
      assert.equal(given.rows.all('SELECT * FROM facts').length, 1802);
    },
    { projection },
  ));

test('P2 given a projection of the same version, when the log opens, then rows are left as they are', () =>
  withLog(
    async (given) => {
      const { log, reopen, behind } = given;
      await log.commit(batch([append('s', 0, 'a')]));
      await log.close();
      behind((db) => db.exec(`UPDATE facts SET says = 'kept'`));
      await reopen();
      assert.equal(given.rows.get('SELECT says FROM facts')?.['says'], 'kept');
    },
    { projection },
  ));

test('P2 a rebuild whose projection throws fails the opening and keeps the old rows', () =>
  withLog(
    async (given) => {
      const { log, reopen } = given;
      await log.commit(batch([append('s', 0, 'a')]));
      const broken = fakeProjection({
        version: '2',
        say: () => {
          throw new Error('cannot project');
        },
      });
      await assert.rejects(reopen(broken), /cannot project/);
      await reopen(projection);
      assert.equal(given.rows.all('SELECT * FROM facts').length, 1);
    },
    { projection },
  ));

test.run();
