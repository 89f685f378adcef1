import { randomUUID } from 'node:crypto';
import * as assert from 'uvu/assert';
import { isUuid, randomIds, sameSecret, uuidTime, uuidv5 } from '../../../src/kernel/ids.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const GRAPHS = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

const test = suite('kernel/ids');

test('given known names, when they become a UUIDv5, then it is the one that everybody else computes', () => {
  assert.is(uuidv5('agent', GRAPHS), 'fe096781-5601-53d2-b2f6-0d3403f7e9ca');
  assert.is(uuidv5('www.example.com', DNS), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
  assert.is(uuidv5('grüße', GRAPHS), uuidv5('grüße', GRAPHS.toUpperCase()));
  assert.is.not(uuidv5('agent', DNS), uuidv5('agent', GRAPHS));
});

test('a UUIDv7 has version, variant and the time in its first 48 bits', () => {
  const ids = randomIds(createManualClock(0x0123_4567_89ab));
  for (let i = 0; i < 100; i++)
    assert.match(ids.uuid(), /^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('given moments in order, when each makes a UUIDv7, then the ids sort like the moments', async () => {
  const clock = createManualClock();
  const ids = randomIds(clock);
  const made: string[] = [];
  for (let i = 0; i < 300; i++) {
    made.push(ids.uuid());
    await clock.advance(1 + (i % 7) * 1_000);
  }
  assert.equal([...made].sort(), made);
});

test('the time of an id is read from version 7 and version 6, and from no other', () => {
  const ids = randomIds(createManualClock(1_795_525_797_691));
  assert.is(uuidTime(ids.uuid()), 1_795_525_797_691);
  assert.is(uuidTime('1f1e8085-9100-6300-ffff-66cab4fe7475'), Date.UTC(2026, 10, 24, 13, 9, 57, 680));
  for (const id of [randomUUID(), uuidv5('agent', GRAPHS), 'c1', '']) assert.is(uuidTime(id), undefined);
});

test('given one moment, when many ids and tokens are made, then no two are equal', () => {
  const ids = randomIds(createManualClock());
  const many = Array.from({ length: 2_000 }, () => [ids.uuid(), ids.token(), randomUUID()]).flat();
  assert.is(new Set(many).size, 6_000);
  assert.ok(ids.token().length >= 21, 'a token must carry 126 bits');
});

test('given texts, when asked whether they are UUIDs, then only the whole form counts', () => {
  for (const yes of [randomUUID(), DNS.toUpperCase(), '00000000-0000-0000-0000-000000000000'])
    assert.ok(isUuid(yes), yes);
  for (const no of [
    '',
    'agent',
    `${DNS}0`,
    ` ${DNS}`,
    `${DNS}\n`,
    DNS.replaceAll('-', ''),
    DNS.replace('6', 'g'),
  ])
    assert.not.ok(isUuid(no), JSON.stringify(no));
});

test('given two secrets, when they are compared, then only equal ones match, whatever their lengths', () => {
  assert.ok(sameSecret('geheim', 'geheim'));
  assert.ok(sameSecret('', ''));
  for (const [a, b] of [
    ['geheim', 'Geheim'],
    ['geheim', 'geheim '],
    ['geheim', ''],
    ['a'.repeat(1_000), 'a'.repeat(1_001)],
  ])
    assert.not.ok(sameSecret(a!, b!), `${a} / ${b}`);
});

test.run();
