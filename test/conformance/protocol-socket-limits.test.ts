import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket as Tcp } from 'node:net';
import { WebSocket } from 'ws';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, hastyClock, MORE } from './scene.ts';
import { ALL, isEnd, openEvents, openSocket } from './thread-stream.ts';

const test = suite('protocol: sockets and their limits');
const PROTOCOL = { config: config('platform.protocol.json') };
const EVERYTHING = { channels: ALL };

const newId = (): string => crypto.randomUUID();
const pathOf = (threadId: string): string => `/threads/${threadId}/stream/events`;
const urlOf = (s: TestServer, threadId: string): string =>
  `${s.url.replace('http', 'ws')}${pathOf(threadId)}`;

test('given pages of other origins, when they open sockets, then the rules for other requests hold', async () => {
  const origin = (s: TestServer, from: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(urlOf(s, newId()), { origin: from });
      socket.once('open', () => {
        socket.terminate();
        resolve(101);
      });
      socket.once('unexpected-response', (_, response) => {
        response.destroy();
        resolve(response.statusCode ?? 0);
      });
    });
  await withServer(PROTOCOL, async (s) => {
    assert.equal(await origin(s, 'https://anywhere.example'), 101);
  });
  await withServer(PROTOCOL, async (s) => {
    const { http } = s.config;
    await s.restart({ http: { ...http, cors: { ...http.cors, origins: ['https://app.example'] } } });
    assert.equal(await origin(s, 'https://app.example'), 101);
    assert.equal(await origin(s, s.url), 101);
    assert.equal(await origin(s, 'https://other.example'), 403);
    assert.equal(await origin(s, 'null'), 403);
  });
});

const raw = async (s: TestServer, text: string): Promise<string> => {
  const socket: Tcp = connect(Number(new URL(s.url).port), '127.0.0.1');
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

test('given requests that offer another protocol, when they arrive, then they are answered like any other', () =>
  withServer(PROTOCOL, async (s) => {
    const offer =
      'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n';
    const got = await raw(
      s,
      `GET /ok HTTP/1.1\r\nhost: x\r\n${offer}\r\nGET /ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    // What is sent along with an offer is answered, or the client is told that it is not.
    const replies = got.split('HTTP/1.1 200').length - 1;
    assert.ok(replies === 2 || (replies === 1 && /connection: close/i.test(got)), got);
    const body = JSON.stringify({ metadata: { from: 'h2c' } });
    const made = await raw(
      s,
      `POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${offer}content-length: ${body.length}\r\n\r\n${body}GET /ok HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    assert.match(made, /"from":"h2c"/);
    const elsewhere = new WebSocket(`${s.url.replace('http', 'ws')}/threads`);
    const [, response] = await once(elsewhere, 'unexpected-response');
    assert.ok(response.statusCode >= 400);
    response.destroy();
    const plain = await s.request('GET', pathOf(newId()));
    assert.equal(plain.status, 426);
  }));

test('given requests to upgrade whose target or host is no address, when they arrive, then each is refused and it is no fault', () =>
  withServer(PROTOCOL, async (s) => {
    const offer =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    for (const [target, host, status] of [
      [`//x${pathOf(newId())}`, 'x', 404],
      ['http://[/', 'x', 400],
      ['*', 'x', 400],
      [pathOf(newId()), 'a b', 400],
      [pathOf(newId()), '[', 400],
      ['/ok', `x${pathOf(newId())}?`, 400],
      // It would have an answer without a socket.
      ['/ok', 'x', 426],
    ] as const) {
      const got = await raw(s, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${offer}`);
      assert.match(got, new RegExp(`^HTTP/1.1 ${status} [^]*"detail":`), `${target} ${host}: ${got}`);
    }
  }));

test('given a socket that subscribes without end, when it has a hundred, then the next is refused', () =>
  withServer(PROTOCOL, async (s) => {
    const { thread_id: threadId } = await s.client.threads.create();
    await s.client.runs.wait(threadId, 'echo', { input: {} });
    const { ask } = await openSocket(s, threadId);
    const answers = await Promise.all(
      Array.from({ length: 103 }, () => ask('subscription.subscribe', EVERYTHING)),
    );
    assert.equal(answers.filter(({ type }) => type === 'error').length, 3);
  }));

test('given open sockets, when the server stops, then they are told to come back and nothing keeps it', () =>
  withServer(PROTOCOL, async (s) => {
    const threadId = newId();
    const idle = await openSocket(s, threadId);
    assert.equal((await idle.ask('subscription.subscribe', EVERYTHING)).type, 'success');
    const stubborn = await openSocket(s, newId());
    stubborn.socket.pause();
    const closed = once(idle.socket, 'close');
    await s.stop();
    assert.equal((await closed)[0], 4503);
    stubborn.socket.resume();
    if (stubborn.socket.readyState !== WebSocket.CLOSED) await once(stubborn.socket, 'close');
  }));

test('given a client that answers no ping, when its socket is silent, then the server ends it, and others stay', () =>
  withServer({ ...PROTOCOL, clock: hastyClock() }, async (s) => {
    const answering = await openSocket(s, newId());
    const dead = connect(Number(new URL(s.url).port), '127.0.0.1');
    dead.write(
      `GET ${pathOf(newId())} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    const received: Buffer[] = [];
    dead.on('data', (data: Buffer) => received.push(data));
    await once(dead, 'close');
    const all = Buffer.concat(received);
    assert.match(all.toString('latin1'), /^HTTP\/1\.1 101 /);
    assert.ok(all.includes(Buffer.from([0x89, 0x00])), 'a ping');
    assert.equal((await answering.ask('no.such')).error, 'unknown_command');
    answering.leave();
  }));

test('given a message larger than a body may be, when a socket sends it, then the socket ends with the code for that', () =>
  withServer({ ...PROTOCOL, overrides: { maxBodyBytes: 1000 } }, async (s) => {
    const socket = await openSocket(s, newId());
    socket.send(JSON.stringify({ id: 1, method: 'run.start', params: { text: 'x'.repeat(2000) } }));
    assert.equal((await once(socket.socket, 'close'))[0], 1009);
  }));

test('S3 given a socket that is not read, when a run floods, then run and other readers go on, and it gets all later', () =>
  withServer({ config: MORE }, async (s) => {
    const threadId = newId();
    const slow = await openSocket(s, threadId);
    void slow.ask('subscription.subscribe', { channels: ['custom', 'lifecycle'] });
    const tcp = (slow.socket as unknown as { _socket: Tcp })._socket;
    const { result } = await slow.ask('run.start', {
      assistant_id: 'flood',
      input: {},
      config: { configurable: { count: 300, size: 50_000 } },
    });
    slow.socket.pause();
    assert.ok(result === undefined || typeof result === 'object');
    const fast = await openEvents(s, threadId, { channels: ['custom', 'lifecycle'] });
    const events = await fast.until(isEnd);
    assert.equal(events.filter(({ method }) => method === 'custom').length, 300);
    fast.leave();
    assert.ok(tcp.bytesRead < 5_000_000, `${tcp.bytesRead}`);
    slow.socket.resume();
    assert.deepEqual(await slow.until(isEnd), events);
    slow.leave();
  }));

test.run();
