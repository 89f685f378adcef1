import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { MISSING, newThread, say, textsOf, config } from './scene.ts';
import { sharedServer } from '../support/shared-server.ts';

const test = suite('conformance: bad bodies');
const plain = sharedServer(test, {});
const onShared = (use: (s: TestServer) => Promise<void>): Promise<void> => use(plain());

const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** Sends a request byte by byte as it stands, and reads until the server closes. */
async function sendRaw(s: TestServer, request: string): Promise<string> {
  const socket = connect(Number(new URL(s.url).port), '127.0.0.1');
  socket.write(request);
  return readAll(socket);
}

async function unchanged(s: TestServer, use: () => Promise<void>): Promise<void> {
  const before = await s.events();
  await use();
  assert.deepEqual(await s.events(), before);
}

const ROUTES = (threadId: string): [string, string][] => [
  ['POST', '/threads'],
  ['PATCH', `/threads/${threadId}`],
  ['POST', '/threads/search'],
  ['POST', '/assistants/search'],
  ['POST', `/threads/${threadId}/runs`],
  ['POST', `/threads/${threadId}/runs/stream`],
  ['POST', '/runs/wait'],
];

const BROKEN: [string, string | Uint8Array, RegExp][] = [
  ['half an object', '{"assistant_id":', /^body: expected JSON/],
  ['a trailing comma', '{"assistant_id":"echo",}', /^body: expected JSON/],
  ['a word', 'undefined', /^body: expected JSON/],
  ['NaN', '{"a":NaN}', /^body: expected JSON/],
  ['two documents', '{}{}', /^body: expected JSON/],
  ['a NUL in a string', '{"a":"\u0000"}', /^body: expected JSON/],
  ['bytes that are no UTF-8', bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), /^body: expected UTF-8/],
  ['a surrogate as UTF-8', bytes(0x22, 0xed, 0xa0, 0x80, 0x22), /^body: expected UTF-8/],
  ['UTF-16', bytes(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00), /^body: expected UTF-8/],
  ['a compressed body', bytes(0x1f, 0x8b, 0x08, 0x00), /^body: expected UTF-8/],
  ['a list', '[]', /^body: /],
  ['a list of bodies', '[{"assistant_id":"echo"}]', /^body: /],
  ['a text', '"{}"', /^body: /],
  ['a number', '5', /^body: /],
  ['false', 'false', /^body: /],
  ['129 levels', `{"metadata":${nest(128)}}`, /nested deeper than 128 levels$/],
  ['a million levels', nest(1_000_000), /^\S+: nested deeper than 128 levels$/],
  [
    'a million levels inside',
    `{"assistant_id":"echo","input":{"a":${nest(1_000_000)}}}`,
    /^input\.a\S*: nested/,
  ],
  ['__proto__ at the top', '{"__proto__":{"assistant_id":"echo"}}', /^body: the key "__proto__"/],
  ['__proto__ inside', '{"metadata":{"a":[{"__proto__":1}]}}', /^metadata\.a\[0\]: the key "__proto__"/],
  ['__proto__ in disguise', '{"input":{"\\u005f_proto__":1}}', /^input: the key "__proto__"/],
  ['__proto__ in settings', '{"config":{"configurable":{"__proto__":{}}}}', /^config\.configurable: the key/],
  ['a NUL in a key', '{"metadata":{"a\\u0000b":1}}', /^metadata: a key holds a NUL/],
  ['a lone surrogate in a key', '{"input":{"\\ud800":1}}', /^input: a key holds a lone surrogate/],
  ['half a pair in a text', '{"input":{"a":["x\\udc00"]}}', /^input\.a\[0\]: a lone surrogate$/],
  ['half a pair in the metadata', '{"metadata":{"a":"\\ud83d x"}}', /^metadata\.a: a lone surrogate$/],
];

for (const [name, body, detail] of BROKEN)
  test(`given ${name} as the body, when it is sent to any route, then 422 says what is wrong and nothing happens`, () =>
    onShared(async (s) => {
      const threadId = await newThread(s);
      await unchanged(s, async () => {
        for (const [method, path] of ROUTES(threadId)) {
          const answer = await s.request(method, path, body);
          assert.equal(answer.status, 422, `${method} ${path}: ${answer.text.slice(0, 300)}`);
          assert.match(answer.json.detail, detail);
          assert.ok(answer.text.length < 500);
        }
      });
    }));

test('given an empty body, when it is sent, then it counts as an empty object', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    for (const body of ['', ' \n\t', 'null', undefined]) {
      assert.equal((await s.request('POST', '/threads/search', body)).json.length > 0, true);
      assert.equal((await s.request('PATCH', `/threads/${threadId}`, body)).status, 200);
      const run = await s.request('POST', `/threads/${threadId}/runs`, body);
      assert.deepEqual([run.status, run.json.detail], [422, 'assistant_id: expected a string']);
    }
  }));

test('given JSON under any content type or none, when it is sent, then it is read as JSON', () =>
  onShared(async (s) => {
    const body = JSON.stringify({ assistant_id: 'echo', input: say('ünïcødé 🦉') });
    const types = [
      'text/plain',
      'text/plain;charset=UTF-8',
      'application/x-www-form-urlencoded',
      'application/json; charset=utf-8',
      'image/png',
    ];
    for (const type of types) {
      const { status, json } = await s.request('POST', '/runs/wait', body, { 'content-type': type });
      assert.deepEqual([status, textsOf(json)], [200, ['ünïcødé 🦉', 'echo: ünïcødé 🦉']], type);
    }
    const bare = await sendRaw(
      s,
      `POST /threads HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
    );
    assert.match(bare, /^HTTP\/1\.1 200 /);
  }));

test('given 128 levels or a body of exactly the limit, when it is sent, then it is accepted', () =>
  withServer({ overrides: { maxBodyBytes: 2000 } }, async (s) => {
    const threadId = await newThread(s);
    const deep = `{"assistant_id":"echo","input":{"a":${nest(126)}}}`;
    const { status, json } = await s.request('POST', `/threads/${threadId}/runs/wait`, deep);
    assert.deepEqual([status, json.a], [200, JSON.parse(nest(126))]);
    const frame = '{"metadata":{"a":""}}';
    const full = frame.replace('""', `"${'x'.repeat(2000 - frame.length)}"`);
    assert.equal((await s.request('POST', '/threads', full)).status, 200);
    assert.equal((await s.request('POST', '/threads', `${full} `)).status, 413);
  }));

test('given a body over the limit, when its length is announced or not, then 413 comes before it is read', () =>
  withServer({ overrides: { maxBodyBytes: 2000 } }, async (s) => {
    const threadId = await newThread(s);
    await unchanged(s, async () => {
      const big = JSON.stringify({ metadata: { a: 'x'.repeat(5000) } });
      for (const [method, path] of ROUTES(threadId)) {
        const { status, json } = await s.request(method, path, big);
        assert.deepEqual([status, json], [413, { detail: 'body: expected at most 2000 bytes' }], path);
      }
      const head = 'POST /threads HTTP/1.1\r\nhost: x\r\n';
      // Nothing follows: whoever waits for the body hangs.
      const announced = await sendRaw(s, `${head}content-length: 1000000000\r\n\r\n`);
      assert.match(announced, /^HTTP\/1\.1 413 [^]*expected at most 2000 bytes/);
      const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
      const chunked = await sendRaw(s, `${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}`);
      assert.match(chunked, /^HTTP\/1\.1 413 [^]*expected at most 2000 bytes/);
    });
  }));

test('given a body that is compressed, when it is sent, then 415 names the header and what was found', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    const body = gzipSync('{"metadata":{}}');
    await unchanged(s, async () => {
      for (const [method, path] of ROUTES(threadId))
        for (const encoding of ['gzip', 'br, gzip', 'deflate']) {
          const { status, json } = await s.request(method, path, body, { 'content-encoding': encoding });
          const detail = `content-encoding: expected none, found "${encoding}"`;
          assert.deepEqual([status, json], [415, { detail }], path);
        }
    });
    const plain = await s.request('POST', '/threads', '{}', { 'content-encoding': 'identity' });
    assert.equal(plain.status, 200);
  }));

test('given a client that goes away inside its body, when the server notices, then it is no fault and nothing happens', () =>
  withServer({}, async (s) => {
    const before = await s.events();
    const socket = connect(Number(new URL(s.url).port), '127.0.0.1');
    socket.write('POST /threads HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"metadata":');
    await once(socket, 'connect');
    // Answered on another connection: by then the server has seen the first half.
    await s.request('GET', '/ok');
    socket.resetAndDestroy();
    await s.request('GET', '/ok');
    await s.restart();
    assert.deepEqual(await s.events(), before);
    assert.deepEqual(s.faults, []);
  }));

test('given methods and targets beyond the usual, when they are sent raw, then the answer is 4xx and no fault', () =>
  onShared(async (s) => {
    const threadId = await newThread(s);
    const requests = ['TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'LINK', 'QUERY'].map(
      (method) => `${method} /threads`,
    );
    for (const line of [
      ...requests,
      `TRACE /threads/${threadId}`,
      'GET /threads/../../etc/passwd',
      'GET //threads',
      'GET /threads/%00/state',
      'GET /threads%2f',
      `POST /threads/${threadId}/runs/${MISSING}/cancel?wait=%ff`,
    ]) {
      const answer = await sendRaw(s, `${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 4\d\d [^]*\{"detail":"/, line);
    }
    for (const line of [
      'GET /threads HTTP/9.9',
      'GET  HTTP/1.1',
      '\u0000',
      'GET /threads HTTP/1.1\r\nhost: a b',
    ])
      assert.match(await sendRaw(s, `${line}\r\nconnection: close\r\n\r\n`), /^HTTP\/1\.1 4\d\d /, line);
  }));

const server = sharedServer(test, { config: config('platform.protocol.json') });

test('NUL in texts is kept in inputs, states, metadata and items (official 7)', async () => {
  // given
  const s = server();
  const text = 'a\u0000b\u0000';
  const thread = await newThread(s, { metadata: { text } });
  // when
  await s.client.runs.wait(thread, 'echo', { input: say(text), metadata: { text } });
  await s.client.threads.updateState(thread, { values: { text }, asNode: 'echo' });
  await s.client.store.putItem(['nul'], 'item', { text });
  // then
  const { values } = await s.client.threads.getState(thread);
  assert.equal(textsOf(values)[0], text);
  assert.equal((values as { text: string }).text, text);
  const [run] = await s.client.runs.list(thread);
  assert.deepEqual([run!.metadata!['text'], (run as any).kwargs.input], [text, say(text)]);
  const found = await s.client.threads.search({ metadata: { text } });
  assert.deepEqual(
    found.map(({ thread_id: id, metadata }) => [id, metadata!['text']]),
    [[thread, text]],
  );
  assert.deepEqual((await s.client.store.getItem(['nul'], 'item'))!.value, { text });
});

test.run();
