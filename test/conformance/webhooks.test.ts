import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type ReceivedRequest } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { newThread, say, textsOf, TIMESTAMP } from './scene.ts';

const test = suite('conformance: webhooks');

/** Untyped, because its shape is what tests assert. */
const bodyOf = ({ body }: ReceivedRequest): any => JSON.parse(body.toString('utf8'));

const OUTCOMES: {
  name: string;
  status: string;
  values: unknown;
  error: unknown;
  /** What the record says beside it: why a run was cancelled. */
  run(s: TestServer, threadId: string, webhook: string): Promise<void>;
}[] = [
  {
    name: 'succeeds',
    status: 'success',
    values: ['hi', 'echo: hi'],
    error: null,
    run: async (s, threadId, webhook) =>
      void (await s.client.runs.wait(threadId, 'echo', { input: say('hi'), webhook })),
  },
  {
    name: 'fails',
    status: 'error',
    values: ['hi'],
    error: { error: 'NodeError', message: 'the node broke' },
    run: async (s, threadId, webhook) =>
      void (await s.client.runs.wait(threadId, 'breaks', { input: say('hi'), webhook, raiseError: false })),
  },
  {
    name: 'stops to ask',
    status: 'success',
    values: ['hi'],
    error: null,
    run: async (s, threadId, webhook) =>
      void (await s.client.runs.wait(threadId, 'asks', { input: say('hi'), webhook })),
  },
  {
    name: 'is cancelled before it began',
    status: 'interrupted',
    values: null,
    error: {
      error: 'UserInterrupt',
      message: 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel',
    },
    run: async (s, threadId, webhook) => {
      const run = await s.client.runs.create(threadId, 'echo', { afterSeconds: 3600, webhook });
      await s.client.runs.cancel(threadId, run.run_id, true);
    },
  },
  {
    name: 'takes longer than it may',
    status: 'timeout',
    values: ['hi'],
    error: { error: 'TimeoutError', message: 'The run exceeded its time limit of 0.3 s.' },
    run: async (s, threadId, webhook) =>
      void (await s.client.runs.wait(threadId, 'gate', {
        input: say('hi'),
        config: { configurable: { gate: `${s.dir}/never` } },
        webhook,
        raiseError: false,
      })),
  },
];

for (const { name, status, values, error, run } of OUTCOMES)
  test(`given a webhook, when its run ${name}, then one POST tells the run record with how it ended (W1)`, () =>
    withWebhookSink((sink) =>
      withServer({ overrides: status === 'timeout' ? { runTimeoutMs: 300 } : {} }, async (s) => {
        const threadId = await newThread(s);
        const url = sink.url('/hook?token=secret');
        await run(s, threadId, url);
        const [post] = await sink.next(1);
        assert.deepEqual([post!.method, post!.url], ['POST', '/hook?token=secret']);
        assert.match(post!.headers['content-type'] ?? '', /^application\/json/);
        const [record] = await s.client.runs.list(threadId);
        const { updated_at: _, error: listed, ...rest } = record! as typeof record & { error?: unknown };
        const {
          updated_at: updated,
          run_started_at: started,
          run_ended_at: finished,
          webhook_sent_at: sent,
          values: told,
          error: blamed,
          thread_status: left,
          interrupts,
          ...run_
        } = bodyOf(post!);
        assert.deepEqual(run_, rest);
        assert.equal(run_.status, status);
        assert.equal(
          (run_ as unknown as { kwargs: { webhook: string } }).kwargs.webhook,
          sink.url('/hook?token=***'),
        );
        assert.deepEqual(told === null ? null : textsOf(told), values);
        assert.deepEqual(blamed, error);
        const thread = await s.client.threads.get(threadId);
        assert.deepEqual([left, interrupts], [thread.status, thread.interrupts]);
        if (name === 'stops to ask') assert.equal(Object.values(interrupts).flat().length, 1);
        assert.deepEqual(listed ?? null, error ?? null);
        for (const time of [updated, finished, sent]) assert.match(time, TIMESTAMP);
        if (name === 'is cancelled before it began') assert.equal(started, null);
        else assert.ok(TIMESTAMP.test(started) && started <= finished);

        const events = await s.events();
        const ended = events.find(({ type, data }) => type === 'RunCompleted' && data.runId === run_.run_id);
        const owed = events.filter(({ type }) => type === 'WebhookOwed');
        assert.equal(owed.length, 1);
        assert.equal(owed[0]!.meta.commandId, ended!.meta.commandId);
        await s.until(({ type }) => type === 'WebhookDelivered');
        // Nothing more comes, also not after a restart.
        await s.restart();
        await s.client.runs.wait(threadId, 'echo', { input: {} });
        assert.equal(sink.received.length, 1);
      }),
    ));

test('given every route that creates runs, also in the singular, when a webhook is named, then each delivers its own', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      const threadId = await newThread(s);
      const expected: string[] = [];
      for (const base of [`/threads/${threadId}/runs`, `/thread/${threadId}/runs`, '/runs'])
        for (const route of ['', '/stream', '/wait']) {
          const path = `${base}${route}`;
          const webhook = sink.url(`/hook${expected.length}`);
          const { status, headers } = await s.request('POST', path, {
            assistant_id: 'echo',
            input: say('hi'),
            webhook,
          });
          assert.equal(status, 200, path);
          expected.push((headers.get('content-location') ?? '').split('/').at(-1)!);
        }
      const posts = await sink.next(expected.length);
      for (const [index, runId] of expected.entries()) {
        const post = posts.filter(({ url }) => url === `/hook${index}`);
        assert.equal(post.length, 1);
        const body = bodyOf(post[0]!);
        assert.deepEqual([body.run_id, body.status], [runId, 'success']);
        assert.equal(textsOf(body.values).at(-1), 'echo: hi');
      }
      assert.equal(new Set(posts.map(({ headers }) => headers['webhook-id'])).size, expected.length);
    }),
  ));

test('a webhook tells the questions of its thread, also of a run that never began, and none of a deleted one', () =>
  withWebhookSink((sink) =>
    withServer({}, async (s) => {
      // given: a thread that waits for an answer, with a run behind the question
      const threadId = await newThread(s);
      await s.client.runs.wait(threadId, 'asks', { input: say('hi') });
      const { interrupts } = await s.client.threads.get(threadId);
      const create = async () => {
        const webhook = sink.url();
        return (await s.client.runs.create(threadId, 'echo', { afterSeconds: 3600, webhook })).run_id;
      };
      // when
      await s.client.runs.cancel(threadId, await create(), true);
      await sink.next(1);
      await create();
      await s.client.threads.delete(threadId);
      const posts = await sink.next(2);
      // then
      const told = posts.map(bodyOf);
      assert.deepEqual(
        told.map((body) => [body.thread_status, body.interrupts]),
        [
          ['interrupted', interrupts],
          [null, {}],
        ],
      );
    }),
  ));

test.run();
