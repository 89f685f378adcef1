import * as assert from 'node:assert/strict';
import { mergeWrites } from '../../../src/store/port/merge-writes.ts';
import type { Row, RowWrite } from '../../../src/store/port/rows.ts';
import { suite } from '../../support/suite.ts';

const test = suite('log/merge-writes');

const put = (table: string, row: Row): RowWrite => ({ op: 'put', table, row });
const set = (table: string, key: Row, values: Row): RowWrite => ({ op: 'set', table, key, set: values });

test('P1 merged writes of one row have the last value of each column', () => {
  assert.deepEqual(
    mergeWrites([
      put('threads', { id: 't', status: 'idle', n: 1 }),
      set('threads', { id: 't' }, { status: 'busy' }),
      put('runs', { id: 'r', status: 'pending' }),
      set('threads', { id: 't' }, { n: 2 }),
      set('runs', { id: 'r' }, { status: 'running' }),
    ]),
    [put('threads', { id: 't', status: 'busy', n: 2 }), put('runs', { id: 'r', status: 'running' })],
  );
});

test('P1 writes that depend on others between them stay apart and in order', () => {
  const apart: RowWrite[] = [
    put('runs', { id: 'a', thread: 't', status: 'running' }),
    set('runs', { id: 'b' }, { status: 'pending' }),
    set('runs', { id: 'a' }, { status: 'success' }),
    { op: 'drop', table: 'runs', key: { thread: 't' } },
    set('runs', { id: 'a' }, { status: 'lost' }),
    { op: 'set', table: 'threads', key: { id: 't' }, set: { n: 1 }, copy: { status: 'settled' } },
    set('threads', { id: 't' }, { settled: 'idle' }),
    { op: 'set', table: 'threads', key: { id: 't' }, set: {}, copy: { status: 'settled' } },
  ];
  assert.deepEqual(mergeWrites(apart), apart);
});

test.run();
