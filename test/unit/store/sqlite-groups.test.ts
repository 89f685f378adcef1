import assert from 'node:assert/strict';
import { append, batch, committed, textsOf } from '../../support/batches.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, groups of batches');

const projection = fakeProjection();

test('L4 a batch that breaks a constraint is rejected alone and leaves nothing', () =>
  withLog(
    async ({ log }) => {
      const frames = {
        kind: 'frames',
        runId: 'r',
        threadId: 't',
        first: 0,
        frames: [{ event: 'e', data: '1' }],
      } as const;
      const [first, twice, refused, other] = await Promise.allSettled([
        log.commit(batch([append('a', 0, 'x')], { payloads: [frames] })),
        log.commit(batch([append('b', 0, 'y')], { payloads: [frames] })),
        log.commit(batch([append('a', 0, 'late')])),
        log.commit(batch([append('c', 0, 'z')])),
      ]);
      assert.equal(twice.status, 'rejected');
      assert.ok(
        first.status === 'fulfilled' && refused.status === 'fulfilled' && other.status === 'fulfilled',
      );
      assert.deepEqual(refused.value, { kind: 'version-conflict', stream: 'a' });
      const [x] = committed(first.value);
      const [z] = committed(other.value);
      assert.deepEqual(await log.readAll(0, 10), [x, z]);
      assert.deepEqual([x?.meta.position, z?.meta.position], [1, 2]);
      assert.equal((await log.payloads.frames('r', -1, 10)).length, 1);
      const [after] = committed(await log.commit(batch([append('b', 0, 'after')])));
      assert.equal(after?.meta.position, 3);
    },
    { projection },
  ));

test('L4 committed frames can be read after a commit of unknown outcome moved them', () =>
  withLog(
    async ({ log, behind }) => {
      const frames = (first: number) =>
        ({ kind: 'frames', runId: 'r', threadId: 't', first, frames: [{ event: 'e', data: '1' }] }) as const;
      for (const first of [0, 1, 2]) await log.commit(batch([], { payloads: [frames(first)] }));
      behind((db) => db.exec('ALTER TABLE snapshots RENAME TO lost'));
      const lost = await Promise.all([
        log.commit(batch([], { payloads: [frames(3)] })),
        log.commit(batch([{ ...append('s', 0, 'x'), snapshot: {} }])),
      ]);
      assert.deepEqual(
        lost.map(({ kind }) => kind),
        ['unknown-outcome', 'unknown-outcome'],
      );
      assert.deepEqual(
        (await log.payloads.frames('r', -1, 9)).map(({ id }) => id),
        [0, 1, 2],
      );
      assert.equal(await log.payloads.lastFrame('r'), 2);
    },
    { projection },
  ));

test('L4 a failure not caused by one batch gives its whole group an unknown outcome for good', () =>
  withLog(
    async ({ log, behind }) => {
      const causes: string[] = [];
      log.onPoisoned((cause) => causes.push(cause));
      await log.commit(batch([append('s', 0, 'kept')]));
      behind((db) => db.exec('ALTER TABLE events RENAME TO lost'));
      // More than one transaction takes: those still waiting must not be tried.
      const results = await Promise.all(
        Array.from({ length: 1_200 }, (_, i) => log.commit(batch([append(`s${i}`, 0, 'x')]))),
      );
      assert.deepEqual([...new Set(results.map(({ kind }) => kind))], ['unknown-outcome']);
      behind((db) => db.exec('ALTER TABLE lost RENAME TO events'));
      const later = await log.commit(batch([append('s', 1, 'no')]));
      assert.equal(later.kind, 'unknown-outcome');
      assert.equal(causes.length, 1);
      assert.match(causes[0]!, /no such table/);
      assert.deepEqual(textsOf(await log.readAll(0, 10)), ['kept']);
    },
    { projection },
  ));

test.run();
