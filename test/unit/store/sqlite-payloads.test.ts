import assert from 'node:assert/strict';
import type { PayloadWrite } from '../../../src/store/port/payloads.ts';
import { fakeProjection } from '../../support/fake-projection.ts';
import { append, batch, said } from '../../support/batches.ts';
import { checkpoint, payloadContract, saved, write } from '../../support/payload-contract.ts';
import { suite } from '../../support/suite.ts';
import { withLog, type TestLog } from '../../support/with-log.ts';

const test = suite('store, payloads');

const lend = (use: (given: TestLog) => Promise<void>): Promise<void> =>
  withLog(use, { projection: fakeProjection() });

test('L1 events with every awkward text read back unchanged after a restart', () =>
  lend(async ({ log, reopen }) => {
    const awkward = {
      z: 1,
      a: 2,
      '10': 'ten',
      big: 9007199254740993,
      tiny: 5e-324,
      long: 1.7976931348623157e308,
      emoji: '👩‍👩‍👧‍👦',
      lone: '\ud800',
      nul: 'a\u0000b',
      nested: [[[{ '': null }]]],
      large: 'ß'.repeat(5_000_000),
    };
    const [text, ...rest] = [JSON.stringify(awkward), JSON.stringify(awkward.large)];
    await log.commit(batch([{ stream: 's', expected: 0, events: [said('x', awkward)], snapshot: awkward }]));
    await write(log, { kind: 'secret', runId: 'r', threadId: 't', data: text! });
    await write(log, { kind: 'body', deliveryId: 'd', threadId: 't', data: rest[0]! });
    const again = await reopen();
    const [event] = await again.readStream('s', 1, 1);
    assert.ok(event?.type === 'ThreadUpdated');
    assert.ok(
      JSON.stringify(event.data.metadata) === JSON.stringify({ text: 'x', ...awkward }),
      'the fact changed',
    );
    assert.ok(JSON.stringify((await again.loadSnapshot('s'))?.state) === text, 'the snapshot changed');
    assert.ok((await again.payloads.secret('r')) === text, 'the secret changed');
    assert.ok((await again.payloads.body('d')) === rest[0], 'the body changed');
  }));

test('L3 of a purged thread only tombstone, snapshot and owed bodies remain in any table', () =>
  lend(async ({ log, behind }) => {
    const value = 'private '.repeat(10_000);
    const of = (threadId: string): PayloadWrite[] => [
      saved(checkpoint('c1', { a: '1' }, { a: value }), `run-${threadId}`, threadId),
      {
        kind: 'checkpoint-writes',
        ...{ threadId, runId: `run-${threadId}`, ns: '', checkpointId: 'c1' },
        writes: [{ taskId: 'x', idx: 0, channel: 'a', data: '1' }],
      },
      {
        kind: 'frames',
        ...{ runId: `run-${threadId}`, threadId, first: 0 },
        frames: [{ event: 'values', data: JSON.stringify('long '.repeat(400)) }],
      },
      { kind: 'secret', runId: `run-${threadId}`, threadId, data: '{}' },
      { kind: 'body', deliveryId: `delivery-${threadId}`, threadId, data: '{}' },
    ];
    await log.commit(
      batch([append('thread-gone', 0, 'x'), append('thread-kept', 0, 'y')], { payloads: of('gone') }),
    );
    await write(log, ...of('kept'));
    const known = await log.payloads.values('gone', 'c1');
    await log.commit(
      batch(
        [
          {
            stream: 'thread-gone',
            expected: 1,
            events: [{ type: 'ThreadDeleted', data: { threadId: 'gone' } }],
          },
        ],
        {
          payloads: [{ kind: 'purge-thread', threadId: 'gone', stream: 'thread-gone', tombstone: 2 }],
        },
      ),
    );
    const counts = (threadId: string) =>
      behind((db) =>
        [
          'texts WHERE thread = (SELECT id FROM texts WHERE name = ?)',
          'frames WHERE thread = ?',
          'secrets WHERE thread_id = ?',
          'bodies WHERE thread_id = ?',
        ].map((rows) => db.prepare(`SELECT count(*) FROM ${rows}`).pluck().get(threadId)),
      );
    assert.deepEqual(counts('gone'), [0, 0, 0, 1]);
    assert.deepEqual(counts('kept'), [3, 1, 1, 1]);
    assert.equal((await log.readStream('thread-gone', 1, 10)).length, 1);
    assert.equal((await log.readStream('thread-kept', 1, 10)).length, 1);
    // The ids may come again with other values, even while a reader holds the deleted ones.
    await write(log, saved(checkpoint('c1', { a: '1' }, { a: 'other' }), 'run-gone', 'gone'));
    const values = [known, await log.payloads.values('gone', 'c1')].map((text) => text?.parse());
    assert.deepEqual(values, [{ a: value }, { a: 'other' }]);
  }));

test('L4 given old command ids, when they are forgotten, then young ones are still answered', () =>
  lend(async ({ log, clock }) => {
    const again = { repeatable: true };
    const [old, young] = [batch([append('s', 0, 'a')], again), batch([append('s', 1, 'b')], again)];
    await log.commit(old);
    await clock.advance(1_000);
    await log.commit(young);
    await write(log, { kind: 'forget-commands', before: clock.now(), limit: 1 });
    assert.equal((await log.commit(young)).kind, 'duplicate');
    assert.deepEqual(await log.commit(old), { kind: 'version-conflict', stream: 's' });
  }));

payloadContract(test, lend);
test.run();
