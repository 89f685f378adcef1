import * as assert from 'node:assert/strict';
import { suite } from '../support/suite.ts';
import { get, heard, openRaw, readAll, upgrade, webSocketFrame } from '../support/raw-client.ts';
import { withServer } from '../support/with-server.ts';

const test = suite('conformance: requests sent ahead on one connection');

const portOf = (url: string): number => Number(new URL(url).port);
const SOCKET = upgrade(`/threads/${crypto.randomUUID()}/stream/events`);
const CREATE =
  'POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

test('given a connection, when requests are sent without waiting, then all are answered in their order (S3)', () =>
  withServer({}, async (s) => {
    const socket = await openRaw(portOf(s.url));
    const whole = readAll(socket);
    socket.write((CREATE + get('/info')).repeat(40));
    socket.write(get('/ok').replace('host: x', 'host: x\r\nconnection: close'));
    const bodies = (await whole).split('HTTP/1.1 200 OK').slice(1);
    const kinds = bodies.map((text) => (/"(thread_id|version|ok)"/.exec(text) ?? [])[1]);
    assert.deepEqual(kinds, [...Array.from({ length: 40 }, () => ['thread_id', 'version']).flat(), 'ok']);
  }));

test('given a connection, when thousands of requests are sent ahead, then it ends, and what was not carried out is not (S3)', () =>
  withServer({}, async (s) => {
    const socket = await openRaw(portOf(s.url));
    const whole = readAll(socket);
    for (let i = 0; i < 20 && socket.writable; i++) socket.write(CREATE.repeat(500));
    await whole;
    const { json } = await s.request('POST', '/threads/count', {});
    assert.ok(json <= 101, `${json} threads were made`);
  }));

test('given a request that is carried out, when an upgrade is sent behind it, then the reply comes first (S3)', () =>
  withServer({}, async (s) => {
    for (const [offer, answer] of [
      [SOCKET + webSocketFrame(1, Buffer.from('{"id":7,"method":"no.such"}')).toString('latin1'), '"id":7'],
      ['GET /ok HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', '{"ok":true,'],
    ] as const) {
      const socket = await openRaw(portOf(s.url));
      const replies: string[] = [];
      socket.on('data', (chunk: Buffer) => replies.push(chunk.toString('latin1')));
      const last = heard(socket, answer);
      socket.write(Buffer.from(CREATE + offer, 'latin1'));
      await last;
      const text = replies.join('');
      assert.ok(text.indexOf('thread_id') < text.indexOf('HTTP/1.1', 1), text);
      assert.match(text, /^HTTP\/1.1 200 /);
      socket.destroy();
    }
  }));

test('given a client of HTTP/1.0 that names no host, when it asks, then it is answered', () =>
  withServer({}, async (s) => {
    const reply = await readAll(await openRaw(portOf(s.url), 'GET /ok HTTP/1.0\r\n\r\n'));
    assert.match(reply, /^HTTP\/1.1 200 OK\r\n[^]*\{"ok":true,.*\}$/);
  }));

test.run();
