import * as assert from 'node:assert/strict';
import type { BodyOf } from '../support/api-types.ts';
import { rowsOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type WebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { leapingClock, newThread, say, TIMESTAMP } from './scene.ts';

const test = suite('conformance: records of webhooks');

const FAST = { env: { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '0.01,0.01' } };
/** What failed once stays owed. */
const SLOW = { env: { PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '86400' } };

/** Runs to its end with a webhook; resolves when the delivery is over or failed for the first time. */
async function hooked(s: TestServer, threadId: string | null, webhook: string, headers = {}) {
  const path = threadId === null ? '/runs/wait' : `/threads/${threadId}/runs/wait`;
  const body = { assistant_id: 'echo', input: say('hi'), webhook };
  const answer = await s.request('POST', path, body, headers);
  assert.equal(answer.status, 200, answer.text);
}
const over = (s: TestServer, count: number): Promise<unknown> => {
  const seen = new Set<string>();
  return s.until(({ type, data }) => {
    if (type === 'WebhookDelivered' || (type === 'WebhookAttemptFailed' && data.nextAt === null))
      seen.add(data.deliveryId);
    return seen.size === count;
  });
};
const list = async (s: TestServer, query = '', headers = {}) => {
  const answer = await s.request('GET', `/webhooks${query}`, undefined, headers);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as any[];
};

test('given attempts that fail and succeed, when the webhook is read, then each is told with what the receiver said, and no secret of it', () =>
  withWebhookSink((sink) =>
    withServer(FAST, async (s) => {
      sink.answer(
        ({ url }, response) => void response.writeHead(500).end(`no route ${url} ${'x'.repeat(2000)}`),
        'reset',
        (_, response) => void response.writeHead(202).end('thanks'),
      );
      const threadId = await newThread(s);
      await hooked(s, threadId, sink.url('/hook?token=canary%2Btoken&a=b#canary'));
      await over(s, 1);
      const [hook] = await list(s);
      const [run] = await s.client.runs.list(threadId);
      const { webhook_id, created_at, attempts, ...rest } = hook;
      assert.deepEqual(rest, {
        ...{ run_id: run!.run_id, thread_id: threadId, url: sink.url('/hook?token=***&a=***#***') },
        ...{ state: 'delivered', next_attempt_at: null },
      });
      assert.equal(sink.received[0]!.headers['webhook-id'], webhook_id);
      assert.match(created_at, TIMESTAMP);
      assert.deepEqual(
        attempts.map(({ status, error }: any) => [status, error]),
        [
          [500, 'the receiver answered 500'],
          [null, attempts[1].error],
          [202, null],
        ],
      );
      assert.ok(attempts[1].error.length > 3);
      assert.equal(attempts[0].response.length, 1024 - 'canary%2Btoken'.length + '***'.length);
      assert.ok(attempts[0].response.startsWith('no route /hook?token=***&a=b '));
      assert.deepEqual([attempts[1].response, attempts[2].response], [null, 'thanks']);
      for (const { at, latency_ms } of attempts)
        assert.ok(TIMESTAMP.test(at) && Number.isInteger(latency_ms) && latency_ms >= 0);
      assert.deepEqual((await s.request('GET', `/webhooks/${webhook_id}`)).json, hook);
    }),
  ));

test('given webhooks of several runs, when they are listed, then every filter narrows and pages say how many there are', () =>
  withWebhookSink((good) =>
    withWebhookSink((bad) =>
      withServer(SLOW, async (s) => {
        bad.otherwise(500);
        const [a, b] = [await newThread(s), await newThread(s)];
        await hooked(s, a, good.url('/1'));
        await hooked(s, b, good.url('/2'));
        await hooked(s, b, bad.url('/3'));
        await over(s, 2);
        await s.until(({ type }) => type === 'WebhookAttemptFailed');
        const paths = async (query: string) => (await list(s, query)).map(({ url }) => new URL(url).pathname);
        assert.deepEqual(await paths(''), ['/3', '/2', '/1']);
        assert.deepEqual(await paths(`?thread_id=${b}`), ['/3', '/2']);
        assert.deepEqual(await paths(`?host=${new URL(bad.url()).host}`), ['/3']);
        assert.deepEqual(await paths('?state=owed'), ['/3']);
        assert.deepEqual(await paths(`?state=delivered&thread_id=${a}`), ['/1']);
        const [{ run_id, next_attempt_at }] = (await list(s, '?state=owed')) as [any];
        assert.match(next_attempt_at, TIMESTAMP);
        assert.deepEqual(await paths(`?run_id=${run_id}`), ['/3']);
        const page = await s.request('GET', '/webhooks?limit=1&offset=1');
        assert.equal(new URL(page.json[0].url).pathname, '/2');
        assert.equal(page.headers.get('x-pagination-total'), '3');
        assert.equal(page.headers.get('x-pagination-next'), '2');
        for (const [query, field] of [
          ['run_id=x', 'run_id'],
          ['thread_id=1', 'thread_id'],
          ['state=lost', 'state'],
          ['limit=0', 'limit'],
          ['limit=101', 'limit'],
          ['offset=-1', 'offset'],
        ]) {
          const { status, json } = await s.request('GET', `/webhooks?${query}`);
          assert.deepEqual([status, json.detail.split(':')[0]], [422, field]);
        }
        for (const [method, path] of [
          ['GET', '/webhooks/x'],
          ['POST', '/webhooks/x/redeliver'],
        ] as const)
          assert.match((await s.request(method, path)).json.detail, /^webhook_id: expected a UUID/);
      }),
    ),
  ));

test('given what was given up and what was delivered, when they are asked for again, then the same id and bytes come, also after three days (W2)', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    return withServer({ ...SLOW, clock }, async (s) => {
      sink.answer(410, 200);
      const threadId = await newThread(s);
      await hooked(s, threadId, sink.url('/dead'));
      await over(s, 1);
      clock.leap(1000);
      await hooked(s, threadId, sink.url('/taken'));
      await over(s, 2);
      const [taken, dead] = await list(s);
      assert.deepEqual([taken.state, dead.state], ['delivered', 'failed']);
      clock.leap(3 * 86_400_000 - 10_000);
      const again = await s.request('POST', `/webhooks/${taken.webhook_id}/redeliver`);
      assert.deepEqual([again.status, again.json.webhook_id], [200, taken.webhook_id]);
      const asked = (body: BodyOf<'POST', '/webhooks/redeliver'>) =>
        s.request('POST', '/webhooks/redeliver', body);
      const { since, until } = { since: dead.created_at, until: taken.created_at };
      assert.deepEqual((await asked({ since: until })).json, { webhook_ids: [], more: false });
      assert.deepEqual((await asked({ since, until: since.replace('+00:00', '+01:00') })).status, 422);
      assert.deepEqual((await asked({ since, until })).json.webhook_ids, [dead.webhook_id]);
      const posts = await sink.next(4);
      for (const path of ['/dead', '/taken']) {
        const [first, second] = posts.filter(({ url }) => url === path);
        assert.equal(first!.headers['webhook-id'], second!.headers['webhook-id']);
        assert.ok(first!.body.equals(second!.body));
      }
      await s.until(({ type, data }) => type === 'WebhookDelivered' && data.deliveryId === dead.webhook_id);
      await s.until(({ type, data }) => type === 'WebhookDelivered' && data.attempt === 2);
      for (const [body, field] of [
        [{}, 'since'],
        [{ since: 'yesterday' }, 'since'],
        [{ since: '2026-13-01' }, 'since'],
        [{ since, until: since }, 'until'],
        [{ since, state: 'owed' }, 'state'],
        [{ since, run_id: 'x' }, 'run_id'],
      ] as const) {
        const { status, json } = await asked(body as any);
        assert.deepEqual([status, json.detail.split(':')[0]], [422, field], json.detail);
      }
      // After three days what was delivered cannot come again.
      clock.leap(3 * 86_400_000 + 60_000);
      await s.until(({ type, data }) => type === 'WebhookBodyErased' && data.deliveryId === taken.webhook_id);
      assert.equal((await s.request('POST', `/webhooks/${taken.webhook_id}/redeliver`)).status, 409);
      assert.deepEqual((await asked({ since, state: 'delivered' })).json.webhook_ids, []);
      assert.equal((await list(s)).length, 2);
    });
  }));

test('given an owed webhook, when it is asked for again, then it goes at once and has all its attempts before it', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    return withServer({ clock }, async (s) => {
      sink.answer(500, 500, 200);
      await hooked(s, null, sink.url());
      const first = await s.until(({ type }) => type === 'WebhookAttemptFailed');
      const { nextAt, deliveryId } = first.data as { nextAt: number; deliveryId: string };
      clock.leap(nextAt - clock.now());
      const second = await s.until(({ type, data }) => type === 'WebhookAttemptFailed' && data.attempt === 2);
      const pause = (second.data as { nextAt: number }).nextAt - clock.now();
      assert.ok(pause >= 5000 && pause <= 6000, String(pause));
      await s.request('POST', `/webhooks/${deliveryId}/redeliver`);
      await s.until(({ type, data }) => type === 'WebhookDelivered' && data.attempt === 3);
    });
  }));

const posted = (sink: WebhookSink, path: string) => sink.received.filter(({ url }) => url === path);

test('L3 given what was delivered, given up and is owed, when thread and run are deleted, then all is gone but what is owed, which is sent and then gone', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    return withServer({ ...SLOW, clock }, async (s) => {
      const [thread, other] = [await newThread(s), await newThread(s)];
      sink.answer(200, 410, 500, 500);
      await hooked(s, thread, sink.url('/done'));
      await over(s, 1);
      await hooked(s, thread, sink.url('/dead'));
      await over(s, 2);
      const failedOnce = async (threadId: string, path: string) => {
        await hooked(s, threadId, sink.url(path));
        const { run_id: runId } = (await s.client.runs.list(threadId, { limit: 1 }))[0]!;
        const [hook] = await list(s, `?run_id=${runId}`);
        await s.until(
          ({ type, data }) => type === 'WebhookAttemptFailed' && data.deliveryId === hook.webhook_id,
        );
        return { runId, webhookId: hook.webhook_id as string };
      };
      const owed = await failedOnce(thread, '/owed');
      const ofRun = await failedOnce(other, '/run');
      assert.equal((await list(s)).length, 4);
      await s.client.threads.delete(thread);
      await s.client.runs.delete(other, ofRun.runId);
      assert.deepEqual(await list(s), []);
      assert.equal((await s.request('POST', `/webhooks/${owed.webhookId}/redeliver`)).status, 404);
      const rows = () => rowsOf(s, 'SELECT delivery_id FROM deliveries');
      assert.equal((await rows()).length, 2);
      clock.leap(2 * 86_400_000);
      for (const { webhookId } of [owed, ofRun])
        await s.until(({ type, data }) => type === 'WebhookForgotten' && data.deliveryId === webhookId);
      assert.deepEqual([posted(sink, '/owed').length, posted(sink, '/run').length], [2, 2]);
      assert.deepEqual([posted(sink, '/done').length, posted(sink, '/dead').length], [1, 1]);
      assert.deepEqual(await rows(), []);
      const left = (await s.events()).filter(({ type }) => type.startsWith('Webhook'));
      assert.ok(left.length === 4 && left.every(({ type }) => type === 'WebhookForgotten'));
      for (const { webhookId } of [owed, ofRun])
        assert.equal(await s.server.log.payloads.body(webhookId), undefined);
    });
  }));

test.run();
