import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { types } from 'node:util';
import { interceptClock } from '../../../src/recording/clock.ts';
import { seededRandom } from '../../../src/recording/random.ts';
import { interceptRandomness } from '../../../src/recording/randomness.ts';
import { MAX_READINGS } from '../../../src/recording/readings.ts';
import { insideSession, inTransport } from '../../../src/recording/session.ts';
import { suite } from '../../support/suite.ts';
import { play, record } from './sessions.ts';

const test = suite('clock and random values of a recording');

/** Reads every clock, in the current session. */
const readClocks = () => ({
  now: Date.now(),
  made: new Date().getTime(),
  text: Date().length > 0,
  ms: performance.now(),
  origin: performance.timeOrigin,
  hr: process.hrtime.bigint(),
  pair: process.hrtime(),
  up: process.uptime(),
  intl: new Intl.DateTimeFormat('en', { second: 'numeric', fractionalSecondDigits: 3 }).format(),
  parts: new Intl.DateTimeFormat('en').formatToParts(),
});

test('every clock shows the recorded readings again, by task, and then goes on', async () => {
  interceptClock();
  // given
  const { parts, recorder } = record();
  const other = { metadata: { langgraph_step: 2, langgraph_node: 'tool' } };
  const read = () => [readClocks(), readClocks()];
  const [first, second] = insideSession(recorder, () => {
    const here = read();
    recorder.configOf = () => other;
    return [here, read()];
  });
  recorder.end();
  // when
  const { player } = play(parts, () => 0);
  await new Promise<void>((resolve) => setImmediate(resolve));
  const again = insideSession(player, read);
  player.configOf = () => other;
  const elsewhere = insideSession(player, read);
  // then
  assert.deepEqual(again, first);
  assert.deepEqual(elsewhere, second);
  const last = second!.at(-1)!;
  const later = insideSession(player, readClocks);
  assert.ok(later.now >= last.now && later.ms >= last.ms && later.hr >= last.hr && later.up >= last.up);
  // Transport and code outside of a session have the real clocks.
  insideSession(recorder, () => inTransport(readClocks));
  assert.equal(parts.length, 1);
});

test('a clock goes on with the real time, so that a loop that waits for it ends', () => {
  // given
  const { parts, recorder } = record();
  recorder.reading('date', 5_000);
  recorder.end();
  // when
  const { player } = play(parts);
  // then
  assert.deepEqual(
    [100, 130].map((real) => player.reading('date', real)),
    [5_000, 5_030],
  );
});

test('an intercepted Date is a Date to everything that looks at it', () => {
  interceptClock();
  const date = new Date();
  class Later extends Date {}
  assert.ok(date instanceof Date && new Later() instanceof Later && new Later(5).getTime() === 5);
  assert.equal(date.constructor, Date);
  assert.ok(types.isDate(date) && structuredClone(date) instanceof Date);
  assert.equal(new Date(2026, 0, 1).getMonth(), 0);
  // A project's own fake clock replaces the function, and restores it.
  const { now } = Date;
  Date.now = () => 7;
  assert.equal(Date.now(), 7);
  Date.now = now;
  assert.notEqual(Date.now(), 7);
});

test('each function draws from a stream of its own, in tasks and outside, and pools shift no value', () => {
  interceptRandomness();
  const task = { metadata: { langgraph_step: 1, langgraph_node: 'agent' } };
  const draw = (first: () => unknown) => {
    const { recorder } = record();
    return [undefined, task].map((config) => {
      recorder.configOf = () => config;
      return insideSession(recorder, () => {
        first();
        return [
          ...[Math.random(), crypto.randomUUID(), crypto.randomInt(5, 1e9), crypto.randomBytes(9)],
          ...[
            crypto.randomFillSync(new Uint16Array(4)),
            globalThis.crypto.getRandomValues(new Uint8Array(9)),
          ],
        ];
      });
    });
  };
  const plain = draw(() => undefined);
  assert.deepEqual(
    draw(() => crypto.randomFillSync(new Uint8Array(4_096))),
    plain,
  );
  assert.deepEqual(
    draw(() => globalThis.crypto.getRandomValues(new Uint8Array(128))),
    plain,
  );
  assert.notDeepEqual(
    draw(() => Math.random()),
    plain,
  );
  assert.notDeepEqual(plain[0], plain[1]);
});

test('a task that reads a clock without end makes its recording incomplete', () => {
  // given
  const { parts, recorder } = record();
  // when
  for (let count = 0; count < MAX_READINGS + 5; count++) recorder.reading('date', count % 2);
  recorder.end();
  // then
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['unrecorded', 'clock'],
  );
});

test('random values are equal for equal seeds and spread evenly', () => {
  const draw = (seed: string) => {
    const random = seededRandom(seed);
    return Array.from({ length: 10_000 }, () => random.float());
  };
  const [values, same, others] = [draw('a'), draw('a'), draw('b')];
  assert.deepEqual(values, same);
  assert.notDeepEqual(values, others);
  assert.ok(values.every((value) => value >= 0 && value < 1));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02, String(mean));
});

test.run();
