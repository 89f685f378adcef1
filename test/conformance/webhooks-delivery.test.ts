import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type Answer, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { leapingClock, newThread, say } from './scene.ts';

const test = suite('conformance: deliveries');

const failures = async (s: TestServer) =>
  (await s.events()).flatMap(({ type, data }) => (type === 'WebhookAttemptFailed' ? [data] : []));

/** The n-th attempt of the only delivery has been recorded. */
const attempted = (s: TestServer, attempt: number) =>
  s.until(
    ({ type, data }) =>
      /^Webhook(AttemptFailed|Delivered)$/.test(type) && 'attempt' in data && data.attempt === attempt,
  );

function assertSame(posts: readonly ReceivedRequest[]): void {
  for (const { headers, body } of posts) {
    assert.equal(headers['webhook-id'], posts[0]!.headers['webhook-id']);
    assert.ok(headers['webhook-id']);
    assert.ok(body.equals(posts[0]!.body), 'the same bytes');
  }
}

test('given a receiver that fails in every way, when it recovers, then id and bytes were the same and each attempt is a fact (W2, W4)', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    return withServer({ clock }, async (s) => {
      const answers: Answer[] = [
        500,
        503,
        404,
        429,
        'reset',
        { redirect: sink.url('/elsewhere') },
        { redirect: '/elsewhere', status: 307 },
        { redirect: sink.url('/elsewhere'), status: 308 },
        // Not a success either.
        304,
      ];
      sink.answer(...answers);
      await s.client.runs.wait(null, 'echo', { input: say('hi'), webhook: sink.url('/hook') });
      const pauses: number[] = [];
      for (let attempt = 1; attempt <= answers.length; attempt++) {
        const fact = await attempted(s, attempt);
        const { nextAt } = fact.data as { nextAt: number };
        pauses.push(nextAt - clock.now());
        clock.leap(nextAt - clock.now());
      }
      const last = await attempted(s, answers.length + 1);
      assert.equal(last.type, 'WebhookDelivered');
      assert.equal(sink.received.length, answers.length + 1);
      assert.ok(
        sink.received.every(({ url }) => url === '/hook'),
        'no redirect is followed',
      );
      assertSame(sink.received);
      assert.deepEqual(
        (await failures(s)).map(({ attempt, status }) => [attempt, status]),
        [500, 503, 404, 429, null, 302, 307, 308, 304].map((status, index) => [index + 1, status]),
      );
      assert.deepEqual(
        pauses,
        [...pauses].sort((a, b) => a - b),
      );
      assert.ok(pauses[0]! >= 1000 && pauses[0]! <= 1200, String(pauses[0]));
    });
  }));

test('given a receiver that never recovers, when the attempts are used up, then the delivery is given up and the run untouched', () =>
  withWebhookSink((sink) => {
    const clock = leapingClock();
    sink.otherwise(500);
    return withServer({ clock }, async (s) => {
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, 'echo', { input: say('hi'), webhook: sink.url() });
      const [run] = await s.client.runs.list(threadId);
      let attempts = 0;
      for (let nextAt: number | null = clock.now(); nextAt !== null;) {
        clock.leap(nextAt - clock.now());
        ({ nextAt } = (await attempted(s, ++attempts)).data as { nextAt: number | null });
      }
      assert.equal(attempts, 13);
      clock.leap(30 * 86_400_000);
      assert.equal(sink.received.length, 13);
      assertSame(sink.received);
      assert.deepEqual(await s.client.runs.get(threadId, run!.run_id), run);
      assert.equal((await s.client.threads.get(threadId)).status, 'idle');
    });
  }));

test('given a receiver that takes a while, when the server stops meanwhile, then it is not sent the webhook again', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      sink.answer((_, response) => void setTimeout(() => response.writeHead(200).end(), 500));
      await s.client.runs.wait(null, 'echo', { input: say('hi'), webhook: sink.url() });
      await sink.next(1);
      await s.restart();
      await s.until(({ type }) => type === 'WebhookDelivered');
      assert.equal(sink.received.length, 1);
      assert.deepEqual(await failures(s), []);
    }),
  ));

test('given a receiver that hangs, when the server stops, then it is tried again after the start', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      sink.answer('hang');
      await s.client.runs.wait(null, 'echo', { input: say('hi'), webhook: sink.url() });
      await sink.next(1);
      await s.restart();
      await s.until(({ type }) => type === 'WebhookDelivered');
      assertSame(await sink.next(2));
    }),
  ));

test('given more owed than may be under way, when the server stops, then only what was sent counts as tried', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      sink.otherwise('hang');
      for (let i = 0; i < 7; i++)
        await s.client.runs.wait(null, 'echo', { input: say('hi'), webhook: sink.url(`/${i}`) });
      const sent = (await sink.next(4)).map(({ url }) => url);
      await s.stop();
      assert.equal(sink.received.length, 4);
      sink.otherwise(200);
      await s.restart();
      await sink.next(4 + 7);
      for (let i = 0; i < 7; i++) {
        const tries = sink.received.filter(({ url }) => url === `/${i}`);
        assert.equal(tries.length, sent.includes(`/${i}`) ? 2 : 1);
        assertSame(tries);
      }
      assert.equal((await failures(s)).length, 4);
    }),
  ));

test('given a receiver that hangs, when others are owed, then it delays neither them nor any run (W3)', () =>
  withWebhookSink((hanging) =>
    withWebhookSink((sink) => {
      const clock = leapingClock();
      return withServer({ clock }, async (s) => {
        hanging.otherwise('hang');
        for (let i = 0; i < 12; i++) {
          const threadId = await newThread(s);
          await s.client.runs.wait(threadId, 'echo', { input: say('hi'), webhook: hanging.url() });
          assert.equal((await s.client.runs.list(threadId))[0]!.status, 'success');
          assert.equal((await s.client.threads.get(threadId)).status, 'idle');
        }
        await hanging.next(4);
        // Time stands still: these cannot have waited for a time-out of the others.
        for (let i = 0; i < 5; i++)
          await s.client.runs.wait(null, 'echo', { input: say('hi'), webhook: sink.url(`/${i}`) });
        await sink.next(5);
        assert.equal(hanging.received.length, 4);
        assert.deepEqual(await failures(s), []);
        // The hanging ones end by their time and make room for the next.
        clock.leap(15_000);
        await s.until(({ type }) => type === 'WebhookAttemptFailed');
        await hanging.next(8);
      });
    }),
  ));

async function withDeafSinks<T>(count: number, use: (urls: readonly string[]) => Promise<T>): Promise<T> {
  if (count === 0) return use([]);
  return withWebhookSink((sink) => {
    sink.otherwise('hang');
    return withDeafSinks(count - 1, (urls) => use([...urls, sink.url()]));
  });
}

test('W3 given more deaf hosts than there are slots for, when another host is owed a webhook, then it need not wait for their time-outs', () =>
  withServer({ env: { PLATFORM_WEBHOOK_TIMEOUT_SECS: '600' } }, (s) =>
    withDeafSinks(24, (deaf) =>
      withWebhookSink(async (healthy) => {
        const body = (webhook: string) => ({ assistant_id: 'echo', input: say('x'), webhook });
        const batch = deaf.flatMap((url) => [body(url), body(url), body(url), body(url)]);
        assert.equal((await s.request('POST', '/runs/batch', batch)).status, 200);
        let owed = 0;
        await s.until(({ type }) => type === 'WebhookOwed' && ++owed === batch.length);
        await s.request('POST', '/runs', body(healthy.url()));
        assert.equal((await healthy.next(1)).length, 1);
      }),
    ),
  ));

test.run();
