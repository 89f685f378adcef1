import * as assert from 'uvu/assert';
import { suite } from '../../support/suite.ts';
import { withWebhookSink } from '../../support/webhook-sink.ts';

const test = suite('support/webhook-sink', { timeoutMs: 5_000 });

const post = (url: string, body: string | Uint8Array<ArrayBuffer> = 'x', init: RequestInit = {}) =>
  fetch(url, { method: 'POST', body, redirect: 'manual', ...init });
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.unreachable('should have failed'),
    (thrown: unknown) => thrown,
  );

test('given a sink, when requests come, then method, path, headers and exact bytes are kept in order', async () => {
  await withWebhookSink(async (sink) => {
    const bytes = new Uint8Array([0, 255, 10, 13]);
    assert.is((await post(sink.url('/a?b=c'), bytes, { headers: { 'webhook-id': 'one' } })).status, 200);
    await post(sink.url());
    const [first, second] = await sink.next(2);
    assert.is(first?.method, 'POST');
    assert.is(first?.url, '/a?b=c');
    assert.is(first?.headers['webhook-id'], 'one');
    assert.equal([...first!.body], [...bytes]);
    assert.is(second?.url, '/hook');
    assert.equal([first?.receivedAt, second?.receivedAt], [0, 1]);
    assert.is(sink.received.length, 2);
  });
});

test('given queued answers, when requests come, then each takes the next one and then the standing answer', async () => {
  await withWebhookSink(async (sink) => {
    sink.answer(503, 410, { redirect: 'http://127.0.0.1:1/', status: 307 }, (request, response) =>
      response.writeHead(201).end(request.body),
    );
    sink.otherwise(204);
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await post(sink.url());
      statuses.push(response.status);
      if (response.status === 307) assert.is(response.headers.get('location'), 'http://127.0.0.1:1/');
    }
    assert.equal(statuses, [503, 410, 307]);
    assert.is(await (await post(sink.url(), 'echo')).text(), 'echo');
    assert.is((await post(sink.url())).status, 204);
  });
});

test('given a reset answer, when a request comes, then its connection breaks after it was recorded', async () => {
  await withWebhookSink(async (sink) => {
    sink.answer('reset');
    const error = (await failure(post(sink.url(), 'reset me'))) as Error;
    assert.is((error.cause as { code?: string }).code, 'ECONNRESET');
    assert.is(String(sink.received[0]?.body), 'reset me');
  });
});

test('given a hanging answer, when the sink closes, then its sender is cut off and nothing waits', async () => {
  const pending = await withWebhookSink(async (sink) => {
    sink.answer('hang');
    const outcome = failure(post(sink.url()));
    await sink.next(1);
    return { outcome };
  });
  assert.instance(await pending.outcome, Error);
});

test('given held answers, when they are released, then and only then every sender gets its status', async () => {
  await withWebhookSink(async (sink) => {
    sink.otherwise({ held: 202 });
    let answered = 0;
    const senders = [1, 2].map(async () => {
      const { status } = await post(sink.url());
      answered += 1;
      return status;
    });
    await sink.next(2);
    sink.answer(200);
    await post(sink.url()); // a full round trip, in which a reply that was not held would have arrived
    assert.is(answered, 0);
    sink.release();
    assert.equal(await Promise.all(senders), [202, 202]);
  });
});

test('given too few requests, when the wait times out, then the error says what came instead', async () => {
  await withWebhookSink(async (sink) => {
    assert.match(String(await failure(sink.next(1, 5))), 'expected 1 webhooks within 5 ms, got 0: none');
    await post(sink.url('/other'));
    assert.match(String(await failure(sink.next(2, 5))), 'got 1: POST /other');
  });
});

test.run();
