import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { get, heard, openRaw, readAll } from '../support/raw-client.ts';
import { withServer, type TestServer } from '../support/with-server.ts';

const test = suite('conformance: what is no request');

const answerTo = async (s: TestServer, text: string): Promise<{ status: number; detail: string }> => {
  const reply = await readAll(await openRaw(Number(new URL(s.url).port), text));
  const [head = '', body = ''] = reply.split('\r\n\r\n');
  assert.match(head, /^content-type: application\/json/im, reply);
  assert.match(head, /^connection: close/im, reply);
  return { status: Number(head.split(' ')[1]), detail: JSON.parse(body).detail };
};

test('given bytes that are no request, when they arrive, then the answer says in JSON what was expected', () =>
  withServer({}, async (s) => {
    for (const [text, status, detail] of [
      ['hello\r\n\r\n', 400, /not HTTP\/1\.1: .*method/i],
      ['GET /ok HTTP/1.1\r\nhost x\r\n\r\n', 400, /not HTTP\/1\.1: .*header/i],
      [
        `GET /ok HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
        431,
        /^headers: .*at most 16384 bytes/,
      ],
      ['GET /ok HTTP/1.1\r\n\r\n', 400, /^host: expected one .* got 0/],
      ['GET /ok HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n', 400, /^host: expected one .* got 2/],
      [
        'POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
        400,
        /not HTTP\/1\.1: .*chunk/i,
      ],
      ['CONNECT x:80 HTTP/1.1\r\nhost: x\r\n\r\n', 501, /no proxy/],
      ['GET * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404, /not found/i],
      ['GET /ok HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\n\r\n', 417, /^expect: expected "100-continue"/],
      ...[
        'sec-websocket-version: 7\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
        'sec-websocket-version: 13\r\n',
      ].map(
        (headers) =>
          [
            `GET /threads/${crypto.randomUUID()}/stream/events HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n`,
            400,
            /Sec-WebSocket/i,
          ] as const,
      ),
    ] as const) {
      const answer = await answerTo(s, text);
      assert.equal(answer.status, status, text);
      assert.match(answer.detail, detail, text);
    }
  }));

test('given the server as a whole, when its options are asked for, then it answers as of any path', () =>
  withServer({}, async (s) => {
    const text = 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    assert.match(await readAll(await openRaw(Number(new URL(s.url).port), text)), /^HTTP\/1\.1 204 /);
  }));

test('given a request that is answered, when bytes that are no request follow, then the reply stays whole', () =>
  withServer({}, async (s) => {
    const socket = await openRaw(Number(new URL(s.url).port), 'GET /ok HTTP/1.1\r\nhost: x\r\n\r\n');
    const whole = readAll(socket);
    await heard(socket, '{"ok":true,');
    socket.write('nonsense\r\n\r\n');
    assert.match(await whole, /^HTTP\/1\.1 200 [^]*\{"ok":true,[^}]*\}[^}]*\}HTTP\/1\.1 400 [^]*"detail"/);
  }));

test('given a stream that is open, when bytes that are no request follow, then it ends and nothing is put into it', () =>
  withServer({}, async (s) => {
    const { json } = await s.request('POST', '/threads', {});
    const socket = await openRaw(Number(new URL(s.url).port), get(`/threads/${json.thread_id}/stream`));
    const whole = readAll(socket);
    await heard(socket, 'text/event-stream');
    socket.write('nonsense\r\n\r\n');
    assert.equal((await whole).split('HTTP/1.1').length, 2);
  }));

test.run();
