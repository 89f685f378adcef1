import assert from 'node:assert/strict';
import { createDeliveries } from '../../../src/actors/deliveries.ts';
import type { DeliveryEvent } from '../../../src/delivery/events.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import { batch } from '../../support/batches.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('store, deliveries');

const NOW = Date.UTC(2026, 0, 1);
const HOST = 'example.com';
const URL = `https://${HOST}/hook`;

const owed = (deliveryId: string): DeliveryEvent => ({
  type: 'WebhookOwed',
  data: { deliveryId, runId: `run-${deliveryId}`, threadId: 't', url: URL },
});
const failed = (deliveryId: string, attempt: number, nextAt: number | null): DeliveryEvent => ({
  type: 'WebhookAttemptFailed',
  data: { deliveryId, attempt, status: 500, error: 'the receiver answered 500', ms: 3, nextAt },
});
const delivered = (deliveryId: string, attempt: number): DeliveryEvent => ({
  type: 'WebhookDelivered',
  data: { deliveryId, attempt, status: 204, ms: 3 },
});
const write = (log: EventLog, deliveryId: string, expected: number, ...events: DeliveryEvent[]) =>
  log.commit(batch([{ stream: `delivery-${deliveryId}`, expected, events }]));
const due = async (log: EventLog, now: number): Promise<string> =>
  (await log.views.deliveries.due(HOST, now, 10))
    .map(({ deliveryId, attempts }) => `${deliveryId}:${attempts}`)
    .join(' ');

test('W1 an owed webhook is due until it is delivered or given up', () =>
  withLog(async ({ log }) => {
    for (const id of ['a', 'b', 'c']) await write(log, id, 0, owed(id));
    assert.equal(await due(log, NOW), 'a:0 b:0 c:0');
    assert.deepEqual((await log.views.deliveries.due(HOST, NOW, 1))[0], {
      ...{
        ...{ deliveryId: 'a', runId: 'run-a', threadId: 't', url: URL, host: HOST },
        ...{ status: 'owed', attempts: 0, tries: 0, version: 1, orphan: false, hasBody: true },
        ...{ nextAt: NOW, createdAt: NOW },
      },
    });
    await write(log, 'a', 1, failed('a', 1, NOW + 5_000));
    await write(log, 'b', 1, delivered('b', 1));
    assert.equal(await due(log, NOW), 'c:0');
    assert.equal(await log.views.due.next(NOW), NOW + 5_000);
    assert.equal(await due(log, NOW + 5_000), 'c:0 a:1');
    await write(log, 'a', 2, failed('a', 2, null));
    await write(log, 'c', 1, failed('c', 1, NOW + 1), delivered('c', 2));
    assert.equal(await due(log, NOW + 1e9), '');
    assert.equal(await log.views.due.next(NOW), undefined);
    const states = async (threadId: string, runId?: string) =>
      (await log.views.deliveries.of(threadId, runId)).map((each) => `${each.deliveryId}:${each.status}`);
    assert.deepEqual((await states('t')).sort(), ['a:failed', 'b:delivered', 'c:delivered']);
    assert.deepEqual([await states('t', 'run-b'), await states('other')], [['b:delivered'], []]);
  }));

test('W1 a delivery that another server has ended takes no late result', () =>
  withLog(async ({ log }) => {
    // given
    const deliveries = createDeliveries({ log, ids: randomIds(systemClock()) });
    const attempt = { ms: 3, now: NOW, dueFrom: NOW };
    for (const id of ['a', 'b']) await write(log, id, 0, owed(id));
    await write(log, 'a', 1, delivered('a', 1));
    // when
    for (const id of ['a', 'b']) await deliveries.record(id, { kind: 'failed', error: 'no answer' }, attempt);
    // then
    const typesOf = async (id: string) =>
      (await log.readStream(`delivery-${id}`, 1, 10)).map(({ type }) => type);
    assert.deepEqual(await typesOf('a'), ['WebhookOwed', 'WebhookDelivered']);
    assert.deepEqual(await typesOf('b'), ['WebhookOwed', 'WebhookAttemptFailed']);
  }));

test('W1 rows of deliveries have the last response and the version for the next event', () =>
  withLog(async ({ log, past, rows }) => {
    await write(log, 'a', 0, owed('a'));
    await write(log, 'a', 1, failed('a', 1, NOW + 1));
    const row = () => {
      const { status, attempts, version, next_at, last_status, last_error } =
        rows.get('SELECT * FROM deliveries')!;
      return [status, attempts, version, next_at, last_status, last_error];
    };
    assert.deepEqual(row(), ['owed', 1, 2, NOW + 1, 500, 'the receiver answered 500']);
    await write(log, 'a', 2, delivered('a', 2));
    assert.deepEqual(row(), ['delivered', 2, 3, null, 204, null]);
    await past(async (history) => assert.equal(await history.firstDifference(), undefined));
  }));

test('W3 each host with due webhooks is listed once, the longest waiting first', () =>
  withLog(async ({ log }) => {
    const at = (host: string, id: string): DeliveryEvent => ({
      type: 'WebhookOwed',
      data: { deliveryId: id, runId: id, threadId: 't', url: `https://${host}/` },
    });
    for (const [host, id] of [
      ['b.com', '1'],
      ['a.com', '2'],
      ['b.com', '3'],
      ['c.com:8443', '4'],
      ['d.com', '5'],
    ] as const)
      await write(log, id, 0, at(host, id));
    await write(log, '2', 1, failed('2', 1, NOW + 10));
    await write(log, '5', 1, delivered('5', 1));
    assert.deepEqual(await log.views.deliveries.dueHosts(NOW), ['b.com', 'c.com:8443']);
    assert.deepEqual(await log.views.deliveries.dueHosts(NOW + 10), ['b.com', 'c.com:8443', 'a.com']);
    await write(log, '5', 2, { type: 'WebhookRedeliveryRequested', data: { deliveryId: '5' } });
    const [again] = await log.views.deliveries.due('d.com', NOW, 9);
    assert.deepEqual([again?.status, again?.attempts, again?.tries], ['owed', 1, 0]);
    await write(log, '5', 3, { type: 'WebhookForgotten', data: { deliveryId: '5' } });
    assert.deepEqual(await log.views.deliveries.due('d.com', NOW, 9), []);
  }));

test.run();
