/** Receivers of webhooks in every bad mood, all at once: each has its own outcome, and none touches a run. */
import * as assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { say } from '../conformance/scene.ts';
import { certify } from '../support/certificate.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink, type Answer, type WebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';

const test = suite('faults: receivers');

interface Mode {
  readonly answers: readonly Answer[];
  readonly url?: (sink: WebhookSink) => string;
  readonly state: 'delivered' | 'failed';
  /** Of all attempts; null: nothing that counts was answered. */
  readonly statuses: readonly (number | null)[];
  /** With a certificate of its own, which nobody signed. */
  readonly tls?: boolean;
  /** What each failed attempt says. */
  readonly error?: RegExp;
  /** How many requests arrive, when not one for each attempt. */
  readonly requests?: number;
}

const BOMB = gzipSync(Buffer.alloc(4 * 2 ** 20));
/** Until whoever reads has gone. */
function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': String(2 ** 30) });
  const fill = (): void => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', fill);
  fill();
}

const MODES: Readonly<Record<string, Mode>> = {
  fine: { answers: [200], state: 'delivered', statuses: [200] },
  slow: {
    answers: [(_, response) => void setTimeout(() => response.writeHead(204).end(), 300)],
    ...{ state: 'delivered', statuses: [204] },
  },
  'never answers': { answers: ['hang', 200], state: 'delivered', statuses: [null, 200] },
  'hangs after headers': {
    answers: [(_, response) => response.writeHead(200).flushHeaders()],
    ...{ state: 'delivered', statuses: [200] },
  },
  'hangs in the body': {
    answers: [(_, response) => void response.writeHead(503).write('half'), 200],
    ...{ state: 'delivered', statuses: [503, 200] },
  },
  resets: { answers: ['reset', 'reset', 200], state: 'delivered', statuses: [null, null, 200] },
  'fails three times': {
    answers: [500, 502, 504, 200],
    ...{ state: 'delivered', statuses: [500, 502, 504, 200] },
  },
  'asks for patience': {
    answers: [(_, response) => void response.writeHead(429, { 'retry-after': '1' }).end(), 200],
    ...{ state: 'delivered', statuses: [429, 200] },
  },
  'is gone': { answers: [410], state: 'failed', statuses: [410] },
  redirects: {
    answers: [{ redirect: '/elsewhere' }, { redirect: '/elsewhere' }, { redirect: '/elsewhere' }, 308],
    ...{ state: 'failed', statuses: [302, 302, 302, 308] },
  },
  'answers a gigabyte': { answers: [(_, response) => flood(response)], state: 'delivered', statuses: [200] },
  'answers a bomb': {
    answers: [(_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB)],
    ...{ state: 'delivered', statuses: [200] },
  },
  'answers ten thousand headers': {
    answers: [
      (_, response) => {
        for (let i = 0; i < 10_000; i++) response.setHeader(`x-header-${i}`, 'x');
        response.writeHead(200).end();
      },
      200,
    ],
    ...{ state: 'delivered', statuses: [null, 200] },
  },
  'speaks no TLS': {
    answers: [],
    url: (sink) => sink.url().replace('http:', 'https:'),
    ...{ state: 'failed', statuses: [null, null, null, null], requests: 0 },
    error: /wrong version number|packet length|SSL|TLS/i,
  },
  'vouches for itself': {
    answers: [],
    tls: true,
    ...{ state: 'failed', statuses: [null, null, null, null], requests: 0, error: /self-signed certificate/ },
  },
  'has no address': {
    answers: [],
    url: () => 'http://receiver.invalid/hook',
    error: /receiver\.invalid/,
    ...{ state: 'failed', statuses: [null, null, null, null], requests: 0 },
  },
  'answers something else': {
    answers: [
      (_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end('<b>\u0000'),
    ],
    ...{ state: 'delivered', statuses: [200] },
  },
};

/** One receiver for each name. */
async function withSinks<T>(
  names: readonly string[],
  use: (sinks: ReadonlyMap<string, WebhookSink>) => Promise<T>,
  sinks: Map<string, WebhookSink> = new Map(),
): Promise<T> {
  const [name, ...rest] = names;
  if (name === undefined) return use(sinks);
  const tls = MODES[name]?.tls === true ? certify({ name: '127.0.0.1' }) : undefined;
  return withWebhookSink((sink) => withSinks(rest, use, sinks.set(name, sink)), tls);
}

const isOver = (s: TestServer, count: number): Promise<unknown> => {
  const over = new Set<string>();
  return s.until(({ type, data }) => {
    if (type === 'WebhookDelivered' || (type === 'WebhookAttemptFailed' && data.nextAt === null))
      over.add(data.deliveryId);
    return over.size === count;
  });
};

test('W2 W3 W4 seventeen kinds of receivers: each webhook has its outcome and every run succeeds', () =>
  withSinks(Object.keys(MODES), (sinks) => {
    const env = {
      PLATFORM_WEBHOOK_TIMEOUT_SECS: '5',
      PLATFORM_WEBHOOK_RETRY_PAUSES_SECS: '0.05,0.05,0.05',
    };
    return withServer({ env }, async (s) => {
      const urls = new Map<string, string>();
      for (const [name, { answers, url }] of Object.entries(MODES)) {
        const sink = sinks.get(name)!;
        sink.answer(...answers);
        urls.set(name, url?.(sink) ?? sink.url());
      }
      const runs = [...urls].map(async ([name, webhook]) => {
        const threadId = (await s.client.threads.create()).thread_id;
        await s.client.runs.wait(threadId, 'echo', { input: say(name), webhook });
        return [name, threadId] as const;
      });
      const threads = new Map(await Promise.all(runs));
      await isOver(s, urls.size);
      for (const [name, { state, statuses, error: wrong, requests = statuses.length }] of Object.entries(
        MODES,
      )) {
        const { json } = await s.request('GET', `/webhooks?thread_id=${threads.get(name)}`);
        const told = json[0].attempts.map(({ status }: any) => status);
        assert.deepEqual(
          [json.length, json[0].state, told],
          [1, state, statuses],
          `${name}: ${JSON.stringify(json)}`,
        );
        if (wrong !== undefined) for (const { error } of json[0].attempts) assert.match(error, wrong, name);
        for (const { response } of json[0].attempts)
          assert.ok((response ?? '').length <= 1024, `${name}: ${response?.length}`);
        const { received } = sinks.get(name)!;
        assert.equal(received.length, requests, name);
        for (const { headers, body, url } of received) {
          assert.equal(url, '/hook', name);
          assert.equal(headers['webhook-id'], json[0].webhook_id, name);
          assert.ok(body.equals(received[0]!.body), name);
        }
        const [run] = await s.client.runs.list(threads.get(name)!);
        assert.equal(run!.status, 'success', name);
      }
      const events = await s.events();
      const { data } = events.find(
        ({ type, data }) => type === 'WebhookAttemptFailed' && data.status === 429,
      )!;
      assert.ok('nextAt' in data && 'deliveryId' in data && data.nextAt !== null);
      const { deliveryId, nextAt } = data;
      const owed = events.find(
        ({ type, data: of }) => type === 'WebhookOwed' && of.deliveryId === deliveryId,
      )!;
      assert.ok(nextAt >= owed.meta.at + 1000, 'what Retry-After asks for is longer than the pause');
    });
  }));

test.run();
