import * as assert from 'uvu/assert';
import { suite } from '../support/suite.ts';
import { withServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { say } from './scene.ts';

const test = suite('conformance: webhooks of many hosts');

test('W3 given more owed webhooks than there are slots, all to a deaf host, when another host is owed one, then it comes', () =>
  withServer({}, (s) =>
    withWebhookSink((deaf) =>
      withWebhookSink(async (healthy) => {
        deaf.otherwise('hang');
        const run = (webhook: string) =>
          s.request('POST', '/runs/wait', { assistant_id: 'echo', input: say('x'), webhook });
        for (let i = 0; i < 15; i++) await Promise.all(Array.from({ length: 10 }, () => run(deaf.url())));
        await deaf.next(1);
        await run(healthy.url());
        assert.is((await healthy.next(1)).length, 1);
        assert.ok(deaf.received.length < 10, `${deaf.received.length} at once to one host`);
      }),
    ),
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
        assert.is((await s.request('POST', '/runs/batch', batch)).status, 200);
        let owed = 0;
        await s.until(({ type }) => type === 'WebhookOwed' && ++owed === batch.length);
        await s.request('POST', '/runs', body(healthy.url()));
        assert.is((await healthy.next(1)).length, 1);
      }),
    ),
  ));

test.run();
