import * as assert from 'node:assert/strict';
import { judgeAttempt, type DeliveryState, type Posted } from '../../../src/delivery/decide.ts';
import { hostOf, maskIn, maskUrl } from '../../../src/delivery/mask.ts';
import { PAUSES_MS, pauseAfter, retryAfterMs } from '../../../src/delivery/schedule.ts';
import { suite } from '../../support/suite.ts';

const test = suite('delivery/schedule');

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const fresh: DeliveryState = { deliveryId: 'd', status: 'owed', attempts: 0, tries: 0, orphan: false };
const judge = (posted: Posted, state: Partial<DeliveryState> = {}) =>
  judgeAttempt(posted, { ...fresh, ...state }, { ms: 5, now: NOW, dueFrom: NOW });
const nextAt = (posted: Posted, state: Partial<DeliveryState> = {}): number | null => {
  const { type, data } = judge(posted, state);
  assert.ok(type === 'WebhookAttemptFailed');
  return data.nextAt === null ? null : data.nextAt - NOW;
};

test('pauses between attempts grow within their jitter and add up to over a day', () => {
  let total = 0;
  for (const [index, pause] of PAUSES_MS.entries()) {
    const spread = Array.from({ length: 200 }, (_, i) => pauseAfter(index + 1, `delivery ${i}`)!);
    assert.ok(spread.every((ms) => ms >= pause && ms <= pause * 1.2));
    assert.ok(new Set(spread).size > 50, 'what failed together does not come again together');
    assert.ok(Math.max(...spread) < (PAUSES_MS[index + 1] ?? Infinity));
    total += pause;
  }
  assert.ok(total > DAY);
  assert.equal(pauseAfter(PAUSES_MS.length + 1, 'd'), undefined);
  assert.equal(pauseAfter(3, 'd'), pauseAfter(3, 'd'));
  assert.equal(pauseAfter(2, 'd', [7]), undefined);
});

test('only 2xx is success; 410 and denials are final; everything else is retried', () => {
  for (const status of [200, 201, 204, 299])
    assert.equal(judge({ kind: 'answered', status }).type, 'WebhookDelivered');
  for (const status of [100, 199, 300, 301, 304, 400, 404, 429, 500, 503])
    assert.equal(nextAt({ kind: 'answered', status }), pauseAfter(1, 'd'), String(status));
  assert.equal(nextAt({ kind: 'answered', status: 410 }), null);
  assert.equal(nextAt({ kind: 'denied', error: 'no' }), null);
  assert.equal(nextAt({ kind: 'failed', error: 'no' }), pauseAfter(1, 'd'));
  assert.equal(nextAt({ kind: 'failed', error: 'no' }, { tries: PAUSES_MS.length }), null);
  // Asked for again: the count goes on, the pauses begin anew.
  const again = judge({ kind: 'failed', error: 'no' }, { attempts: 13, tries: 0 });
  assert.ok(again.type === 'WebhookAttemptFailed');
  assert.deepEqual([again.data.attempt, again.data.nextAt], [14, NOW + pauseAfter(1, 'd')!]);
});

test('a Retry-After longer than the pause is honoured, in seconds or as a date, up to a day', () => {
  const asked = (retryAfter: string) => nextAt({ kind: 'answered', status: 503, retryAfter });
  assert.equal(asked('120'), 120_000);
  assert.equal(asked('Thu, 01 Jan 2026 00:10:00 GMT'), 600_000);
  assert.equal(asked('0'), pauseAfter(1, 'd'));
  assert.equal(asked('Thu, 01 Jan 2020 00:10:00 GMT'), pauseAfter(1, 'd'));
  assert.equal(asked('soon'), pauseAfter(1, 'd'));
  assert.equal(retryAfterMs('999999999', NOW), DAY);
  assert.equal(retryAfterMs('-5', NOW), 0);
});

test('A4 given URLs with secrets, when they are masked, then only names and places are left', () => {
  for (const [url, masked] of [
    ['https://a.com/x?token=s3cret&b=', 'https://a.com/x?token=***&b=***'],
    ['https://a.com/x?s3cret', 'https://a.com/x?***'],
    ['https://a.com/x?a=b=c#frag', 'https://a.com/x?a=***#***'],
    ['https://me:pw@a.com/', 'https://***@a.com/'],
    ['/own?token=s', '/own?token=***'],
    ['https://a.com/x', 'https://a.com/x'],
    ['nonsense?a=1\n2', 'nonsense?a=***'],
  ])
    assert.equal(maskUrl(url!), masked);
  const said = maskIn('no s3cret+x, s3cret x, s3cret%20x, key', 'https://a.com/?t=s3cret%20x&u=1', [
    'key',
    'header',
  ]);
  assert.equal(said, 'no s3cret+x, ***, ***, key');
  assert.deepEqual(['https://A.com/', 'http://a.com:81/x', '/own', 'nonsense'].map(hostOf), [
    'a.com',
    'a.com:81',
    'self',
    'self',
  ]);
});

test.run();
