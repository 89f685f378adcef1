import * as assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { suite } from '../support/suite.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
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

type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Six webhooks are expected. No answer, webhook, event or file may hold a value that begins with `canary-header`. */
const leavingNoTrace = (use: (s: TestServer, ask: Ask, webhook: string) => Promise<void>): Promise<void> =>
  withWebhookSink((sink) =>
    withServer({ ...EDGE, env: { PLATFORM_ALLOW_PRIVATE_WEBHOOKS: 'true' } }, async (s) => {
      const answers: string[] = [];
      const ask: Ask = async (method, path, body) => {
        const answer = await s.request(method, path, body, HEADERS);
        assert.ok(answer.status < 300, answer.text);
        answers.push(JSON.stringify([...answer.headers]), answer.text);
        return answer;
      };
      await use(s, ask, sink.url());
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
  );

test('given headers that runs inherit, when graphs run, then graph code has the chosen ones and nothing else does (A4)', () =>
  leavingNoTrace(async (_, ask, webhook) => {
    for (const graph of ['headers', 'headers-lang']) {
      const { json } = await ask('POST', '/threads', {});
      const thread = `/threads/${json.thread_id}`;
      const body = { assistant_id: graph, input: say('hi'), stream_mode: MODES, webhook };
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
  }));

test('given no rule for headers, when a graph runs, then it sees none', () =>
  withServer({ ...EDGE }, async (s) => {
    await s.restart({ http: { ...s.config.http, configurableHeaders: { include: [], exclude: [] } } });
    const { json } = await s.request('POST', '/runs/wait', { assistant_id: 'headers', input: {} }, HEADERS);
    assert.deepEqual(json.seen.names, []);
  }));

const SIGNED = {
  'user-agent': 'browser',
  'x-amzn-oidc-data': 'canary-header-oidc',
  'x-goog-iap-jwt-assertion': 'canary-header-iap',
  'x-ms-client-principal': 'canary-header-principal',
  'x-forwarded-for': 'canary-header-address',
  'x-page': 'canary-header-page',
};

test('without a rule x-* headers reach graph code and no record, and the user agent neither (A4)', () =>
  withServer({}, async (s) => {
    const { json: thread } = await s.request('POST', '/threads', {});
    const path = `/threads/${thread.thread_id}`;
    // Graph code of this project that shows its settings has them in the state, so a row is looked at instead.
    const body = { assistant_id: 'echo', input: say('hi'), after_seconds: 60 };
    const { json: run } = await s.request('POST', `${path}/runs`, body, SIGNED);
    const { inherited } = JSON.parse((await s.server.log.payloads.secret(run.run_id)) ?? '{}');
    const { 'user-agent': _, ...passed } = SIGNED;
    assert.deepEqual(inherited, passed);
    assertClean(JSON.stringify([run, await s.events()]), 'a record');
    assert.ok(!('user-agent' in run.kwargs.config.configurable));
    await s.request('POST', `${path}/runs/${run.run_id}/cancel?wait=1`, undefined);
    assert.equal(await s.server.log.payloads.secret(run.run_id), undefined);
    const { json: plain } = await s.request('POST', `${path}/runs`, body, { 'user-agent': 'browser' });
    assert.equal(await s.server.log.payloads.secret(plain.run_id), undefined);
  }));

const KEYS = {
  openai_api_key: 'canary-header-openai',
  llm: {
    name: 'large',
    maxTokens: 5,
    accessToken: 'canary-header-nested',
    fallbacks: [{ apiKey: 4_900_100 }],
  },
};
const CONTEXT = { dbPassword: 'canary-header-password', keyword: 'plain', max_tokens: 7, has_token: true };
const SEEN = digest(JSON.stringify([KEYS.openai_api_key, KEYS.llm, CONTEXT.dbPassword]));

test('keys in the settings of a run reach graph code and nothing else, and its record has masks (A4)', () =>
  leavingNoTrace(async (s, ask, webhook) => {
    for (const graph of ['keys', 'keys-lang']) {
      const { json } = await ask('POST', '/threads', {});
      const thread = `/threads/${json.thread_id}`;
      const body = {
        ...{ assistant_id: graph, input: {}, stream_mode: MODES, webhook },
        ...{ config: { configurable: KEYS }, context: CONTEXT },
      };
      assert.equal((await ask('POST', `${thread}/runs/wait`, body)).json.seen, SEEN);
      // Each mirrors the other where only one is given.
      const mirrored = { ...body, config: {}, context: { ...KEYS, ...CONTEXT } };
      await ask('POST', `${thread}/runs/stream`, mirrored);
      assert.equal((await ask('GET', `${thread}/state`)).json.values.seen, SEEN);
      const delayed = await ask('POST', `${thread}/runs`, { ...body, after_seconds: 1 });
      const { configurable, ...rest } = delayed.json.kwargs.config;
      assert.equal(configurable.openai_api_key, '***');
      assert.deepEqual(configurable.llm, {
        ...{ name: 'large', maxTokens: 5, accessToken: '***', fallbacks: [{ apiKey: '***' }] },
      });
      assert.ok(!JSON.stringify(rest).includes('***'));
      assert.deepEqual(delayed.json.kwargs.context, { ...CONTEXT, dbPassword: '***' });
      for (const path of ['', '/runs', '/state?subgraphs=1', '/history'])
        await ask('GET', `${thread}${path}`);
      await s.restart();
      const joined = await ask('GET', `${thread}/runs/${delayed.json.run_id}/join`);
      assert.equal(joined.json.seen, SEEN);
      assert.equal(await s.server.log.payloads.secret(delayed.json.run_id), undefined);
    }
  }));

test('keys of assistants are in the replies about these and in no record of a run (A4)', () =>
  withServer(EDGE, async (s) => {
    const ask = async (path: string, body: unknown) => (await s.request('POST', path, body, HEADERS)).json;
    const settings = { config: { configurable: KEYS }, context: CONTEXT };
    const assistant = await ask('/assistants', { graph_id: 'keys', ...settings });
    assert.deepEqual(assistant.config.configurable, KEYS);
    const { thread_id: threadId } = await ask('/threads', {});
    const body = { assistant_id: assistant.assistant_id, input: {} };
    assert.equal((await ask(`/threads/${threadId}/runs/wait`, body)).seen, SEEN);
    const { json: runs } = await s.request('GET', `/threads/${threadId}/runs`, undefined, HEADERS);
    assertClean(JSON.stringify(runs), 'the run');
    assert.equal(runs[0].kwargs.config.configurable.openai_api_key, '***');
    // An exported thread tells of the assistants of its runs.
    const path = `${s.url}/threads/${threadId}/export`;
    const file = Buffer.from(await (await fetch(path, { headers: HEADERS })).arrayBuffer());
    const packed = file.subarray(file.indexOf('\n') + 1, file.lastIndexOf('\nsha256'));
    const text = zstdDecompressSync(packed).toString();
    assert.match(text, /"openai_api_key":"\*\*\*"/);
    assertClean(text, 'the file');
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
