import * as assert from 'node:assert/strict';
import { createHostGate } from '../../../src/effects/host-gate.ts';
import { suite } from '../../support/suite.ts';

const test = suite('effects/host-gate');

test('W3 a host has few attempts under way at once, and other hosts are not delayed', () => {
  const gate = createHostGate(2);
  gate.begin('a');
  assert.equal(gate.room('a', 0), 1);
  gate.begin('a');
  assert.deepEqual([gate.room('a', 0), gate.underWay('a'), gate.room('b', 0)], [0, 2, 2]);
  gate.end('a', true, 0);
  assert.equal(gate.room('a', 0), 1);
});

test('W3 after its pauses a failing host gets one attempt at a time until one succeeds', () => {
  const gate = createHostGate(4);
  const fail = (now: number): void => {
    gate.begin('a');
    gate.end('a', false, now);
  };
  for (let i = 0; i < 9; i++) fail(0);
  assert.equal(gate.room('a', 0), 4);
  fail(0);
  assert.deepEqual([gate.room('a', 0), gate.room('a', 999), gate.nextOpening(0)], [0, 0, 1000]);
  assert.deepEqual([gate.room('a', 1000), gate.nextOpening(1000)], [1, undefined]);
  gate.begin('a');
  assert.equal(gate.room('a', 1000), 0);
  gate.end('a', false, 1000);
  assert.equal(gate.nextOpening(1000), 3000);
  for (let i = 0; i < 20; i++) fail(1000);
  assert.equal(gate.nextOpening(1000), 61_000);
  gate.begin('a');
  gate.end('a', true, 61_000);
  assert.deepEqual([gate.room('a', 61_000), gate.nextOpening(61_000)], [4, undefined]);
});

test.run();
