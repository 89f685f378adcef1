import assert from 'node:assert/strict';
import type { DeliveryEvent } from '../../../src/delivery/events.ts';
import type { EventLog } from '../../../src/log/log.ts';
import {
  dueDeliveries,
  failedDeliveries,
  nextDueDelivery,
} from '../../../src/projections/delivery-queries.ts';
import { batch } from '../../support/log-contract.ts';
import { suite } from '../../support/suite.ts';
import { withLog } from '../../support/with-log.ts';

const test = suite('projections/deliveries');

const NOW = Date.UTC(2026, 0, 1);
const URL = 'https://example.com/hook';

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
const free = { hosts: [], ids: [] };
const due = async (log: EventLog, now: number): Promise<string> =>
  (await dueDeliveries(log.rows, now, 10, free))
    .map(({ deliveryId, attempts }) => `${deliveryId}:${attempts}`)
    .join(' ');

test('W1 given owed webhooks, when attempts are recorded, then each is due until it is delivered or given up', () =>
  withLog(async ({ log }) => {
    for (const id of ['a', 'b', 'c']) await write(log, id, 0, owed(id));
    assert.equal(await due(log, NOW), 'a:0 b:0 c:0');
    assert.deepEqual((await dueDeliveries(log.rows, NOW, 1, free))[0], {
      ...{
        deliveryId: 'a',
        threadId: 't',
        url: URL,
        host: 'example.com',
        attempts: 0,
        version: 1,
      },
    });
    await write(log, 'a', 1, failed('a', 1, NOW + 5_000));
    await write(log, 'b', 1, delivered('b', 1));
    assert.equal(await due(log, NOW), 'c:0');
    assert.equal(await nextDueDelivery(log.rows, NOW), NOW + 5_000);
    assert.equal(await due(log, NOW + 5_000), 'c:0 a:1');
    await write(log, 'a', 2, failed('a', 2, null));
    await write(log, 'c', 1, failed('c', 1, NOW + 1), delivered('c', 2));
    assert.equal(await due(log, NOW + 1e9), '');
    assert.equal(await nextDueDelivery(log.rows, NOW), undefined);
    assert.deepEqual(await failedDeliveries(log.rows, 't'), ['a']);
    assert.deepEqual(await failedDeliveries(log.rows, 'other'), []);
  }));

test('W1 given attempts, when the rows are read, then they hold the last answer, and the version for the next fact', () =>
  withLog(async ({ log, past }) => {
    await write(log, 'a', 0, owed('a'));
    await write(log, 'a', 1, failed('a', 1, NOW + 1));
    const row = () => {
      const { status, attempts, version, next_at, last_status, last_error } =
        log.rows.get('SELECT * FROM deliveries')!;
      return [status, attempts, version, next_at, last_status, last_error];
    };
    assert.deepEqual(row(), ['owed', 1, 2, NOW + 1, 500, 'the receiver answered 500']);
    await write(log, 'a', 2, delivered('a', 2));
    assert.deepEqual(row(), ['delivered', 2, 3, null, 204, null]);
    await past((history) => assert.equal(history.firstDifference(), undefined));
  }));

test.run();
