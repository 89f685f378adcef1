import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: headers that runs inherit');

const EDGE = { config: config('platform.edge.json') };
const HEADERS = {
  authorization: 'Bearer alice-token',
  'x-secret': 'canary-header-one',
  'accept-language': 'canary-header-two',
  'x-private-thing': 'canary-header-three',
  'x-api-key': 'canary-header-four',
  'x-tenant-id': 'canary-header-five',
  'x-service-key': 'canary-header-six',
  cookie: 'a=canary-header-seven',
  user_id: 'canary-header-eight',
  // The runtime copies this one into the metadata that it shows.
  model: 'canary-header-ten',
  'user-agent': 'canary-header-nine',
};
const MODES = ['values', 'updates', 'messages-tuple', 'custom', 'events', 'debug', 'tasks', 'checkpoints'];
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

function assertSeen(seen: unknown): void {
  assert.deepEqual(seen, {
    names: ['accept-language', 'model', 'x-secret'],
    secret: digest(HEADERS['x-secret']),
    language: digest(HEADERS['accept-language']),
    user_id: 'alice',
  });
}

function assertClean(text: string, where: string): void {
  assert.ok(!text.includes('canary-header'), `${where} holds the value of a header`);
}

test('given headers that runs inherit, when graphs run, then graph code has the chosen ones and nothing else does (A4)', () =>
  withWebhookSink((sink) =>
    withServer({ ...EDGE, env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } }, async (s: TestServer) => {
      const answers: string[] = [];
      const ask = async (method: string, path: string, body?: unknown) => {
        const answer = await s.request(method, path, body, HEADERS);
        assert.ok(answer.status < 300, answer.text);
        answers.push(JSON.stringify([...answer.headers]), answer.text);
        return answer;
      };
      for (const graph of ['headers', 'headers-lang']) {
        const { json } = await ask('POST', '/threads', {});
        const thread = `/threads/${json.thread_id}`;
        const body = { assistant_id: graph, input: say('hi'), stream_mode: MODES, webhook: sink.url() };
        assertSeen((await ask('POST', `${thread}/runs/wait`, body)).json.seen);
        await ask('POST', `${thread}/runs/stream`, {
          ...body,
          config: { configurable: { 'x-secret': 'forged' } },
        });
        assertSeen((await ask('GET', `${thread}/state`)).json.values.seen);
        await ask('POST', '/runs/stream', body);
        for (const path of ['', '/runs', '/state?subgraphs=1', '/history'])
          await ask('GET', `${thread}${path}`);
      }
      for (const { body, headers } of await sink.next(6))
        answers.push(body.toString('utf8'), JSON.stringify(headers));
      answers.push(JSON.stringify(await s.events()));
      for (const [index, text] of answers.entries()) assertClean(text, `answer ${index}`);
      await s.stop();
      for (const { parentPath, name } of readdirSync(s.dir, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile(),
      ))
        assertClean(readFileSync(join(parentPath, name), 'latin1'), name);
    }),
  ));

test('given a run that waits, when the server starts anew, then the run still has its headers, and its row goes with it', () =>
  withServer(EDGE, async (s) => {
    const { json: thread } = await s.request('POST', '/threads', {}, HEADERS);
    const body = { assistant_id: 'headers', input: say('hi'), after_seconds: 1 };
    const { json: run } = await s.request('POST', `/threads/${thread.thread_id}/runs`, body, HEADERS);
    assert.match((await s.server.log.payloads.secret(run.run_id)) ?? '', /canary-header-one/);
    assertClean(JSON.stringify(run), 'the run');
    await s.restart();
    const joined = await s.request(
      'GET',
      `/threads/${thread.thread_id}/runs/${run.run_id}/join`,
      undefined,
      HEADERS,
    );
    assertSeen(joined.json.seen);
    assert.equal(await s.server.log.payloads.secret(run.run_id), undefined);
  }));

test('given no rule for headers, when a graph runs, then it sees none', () =>
  withServer({ ...EDGE }, async (s) => {
    await s.restart({ http: { ...s.config.http, configurableHeaders: { include: [], exclude: [] } } });
    const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'headers', input: {} }, HEADERS);
    assert.deepEqual(json.seen.names, []);
  }));

test('without a rule an ordinary request leaves its headers in configurable and no secret row (A4)', () =>
  withServer({}, async (s) => {
    const create = async (headers: Record<string, string>) => {
      const { json: thread } = await s.request('POST', '/threads', {});
      const body = {
        assistant_id: 'echo',
        input: say('hi'),
        after_seconds: 60,
        config: { configurable: { 'x-page': 'forged' } },
      };
      return (await s.request('POST', `/threads/${thread.thread_id}/runs`, body, headers)).json;
    };
    const plain = await create({
      'user-agent': 'browser',
      'x-page': '7',
      'accept-language': 'en',
      cookie: 'a=b',
    });
    const { configurable } = plain.kwargs.config;
    assert.deepEqual([configurable['user-agent'], configurable['x-page']], ['browser', '7']);
    assert.ok(!('accept-language' in configurable) && !('cookie' in configurable));
    assert.equal(await s.server.log.payloads.secret(plain.run_id), undefined);
    const secret = await create({ 'user-agent': 'browser', 'x-csrf-token': 'canary-header-twelve' });
    assertClean(JSON.stringify(secret), 'the run');
    assert.match((await s.server.log.payloads.secret(secret.run_id)) ?? '', /canary-header-twelve/);
  }));

test('given headers that may be logged, when requests come, then each has one line with these and no secrets', () =>
  withServer({ config: config('platform.edge.json') }, async (s) => {
    await s.request('GET', '/threads?token=canary', undefined, {
      ...HEADERS,
      'x-request-id': 'r-1',
      'x-request-secret': 'canary-header-eleven',
    });
    await s.request('POST', '/nothing', {}, { 'x-request-more': 'm' });
    const lines = s.requests.slice(-2).map(({ ms, ...line }) => line);
    assert.deepEqual(lines, [
      { method: 'GET', path: '/agents/v1/threads', status: 200, headers: { 'x-request-id': 'r-1' } },
      { method: 'POST', path: '/agents/v1/nothing', status: 401, headers: { 'x-request-more': 'm' } },
    ]);
    assert.ok(s.requests.every(({ ms }) => Number.isInteger(ms) && ms >= 0));
  }));

test.run();
