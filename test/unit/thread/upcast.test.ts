import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { readData } from '../../../src/store/port/events.ts';
import { schemaVersionOf, upcast, type Upcasters } from '../../../src/thread/upcast.ts';
import { suite } from '../../support/suite.ts';

const test = suite('thread/upcast');

const upcasters: Upcasters = {
  RunCreated: [
    (data) => ({ ...data, strategy: 'reject' }),
    ({ strategy, ...data }) => ({ ...data, multitask: strategy ?? null }),
  ],
};

test('L3 given a fact of an old version, when it is read, then every step up to today is applied in order', () => {
  assert.deepEqual(upcast('RunCreated', 1, { runId: 'a' }, upcasters), { runId: 'a', multitask: 'reject' });
  assert.deepEqual(upcast('RunCreated', 2, { strategy: 'x' }, upcasters), { multitask: 'x' });
  assert.deepEqual(upcast('RunCreated', 3, { multitask: 'y' }, upcasters), { multitask: 'y' });
});

test('L3 given stored data, when it is upcast, then the stored object itself is not touched', () => {
  const stored: JsonObject = Object.freeze({ runId: 'a' });
  upcast('RunCreated', 1, stored, upcasters);
  assert.deepEqual(stored, { runId: 'a' });
});

test('L3 given a fact of a later program, when it is read, then the reader stops instead of guessing', () => {
  assert.throws(() => upcast('RunCreated', 4, {}, upcasters), /RunCreated was stored as version 4.*1 to 3/);
  assert.throws(() => upcast('RunStarted', 2, {}, upcasters), /version 2.*1 to 1/);
  assert.throws(() => upcast('RunStarted', 0, {}, upcasters), /version 0/);
});

test('L3 X6 a run that was requeued before runs had accounts has an empty one', () => {
  const old = { threadId: 't', runId: 'a', attempt: 1, reason: 'lost', lost: true };
  assert.deepEqual(readData('RunRequeued', 1, old), { ...old, deaths: 0, charges: 0 });
});

test('given upcasters, when a new fact is written, then its version is the newest', () => {
  assert.equal(schemaVersionOf('RunCreated', upcasters), 3);
  assert.equal(schemaVersionOf('RunStarted', upcasters), 1);
});

test.run();
