/** Receivers below HTTP: what a certificate must say, and answers that no server would write. */
import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { UrlPolicy } from '../../../src/delivery/url-policy.ts';
import { createHttpOut, type HttpOutOptions, type Posted } from '../../../src/effects/http-out.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { certify, type Certified } from '../../support/certificate.ts';
import { suite } from '../../support/suite.ts';

const test = suite('effects/http-out: hostile receivers');

const OPEN: UrlPolicy = {
  ...{ allowPrivate: true, requireHttps: false, allowedDomains: [], allowedPorts: [], maxLength: 2048 },
};
const here: NonNullable<HttpOutOptions['resolve']> = (_, done) =>
  done(null, [{ address: '127.0.0.1', family: 4 }]);

async function post(url: string, options: Partial<HttpOutOptions> = {}): Promise<Posted> {
  const out = createHttpOut({
    ...{ policy: OPEN, clock: systemClock(), deadlineMs: 5_000, resolve: here },
    ...options,
  });
  try {
    return await out.post(url, {}, '{"a":1}');
  } finally {
    await out.close();
  }
}

async function listening<T>(server: Server, use: (port: number) => Promise<T>): Promise<T> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

test('W4 a certificate that is expired, early or of another name fails the attempt before it sends', async () => {
  const authority = certify({ name: 'an authority', authority: true });
  const name = 'receiver.example.com';
  const cases: [Certified, RegExp | undefined][] = [
    [certify({ name, by: authority }), undefined],
    [certify({ name, by: authority, from: new Date(0), to: new Date(1e12) }), /certificate has expired/],
    [
      certify({ name, by: authority, from: new Date(4e12), to: new Date(5e12) }),
      /certificate is not yet valid/,
    ],
    [certify({ name: 'other.example.com', by: authority }), /does not match certificate's altnames/],
    [certify({ name: '127.0.0.1', by: authority }), /does not match certificate's altnames/],
    [certify({ name }), /self-signed certificate/],
    [certify({ name, by: certify({ name: 'an authority', authority: true }) }), /certificate/],
    [certify({ name, by: certify({ name, by: authority }) }), /certificate/],
  ];
  for (const [{ key, cert }, problem] of cases) {
    const seen: (string | false | null)[] = [];
    const server = createTlsServer({ key, cert }, (request, response) => {
      seen.push((request.socket as unknown as { servername: string | false | null }).servername);
      response.end('fine');
    });
    const posted = await listening(server, (port) =>
      post(`https://${name}:${port}/hook`, {
        dial: (lookup) => buildConnector({ lookup, ca: authority.cert }),
      }),
    );
    if (problem === undefined) {
      assert.deepEqual(posted, { kind: 'answered', status: 200, response: 'fine' });
      assert.deepEqual(seen, [name], 'TLS is spoken with the name, not with the address');
    } else {
      assert.ok(posted.kind === 'failed', JSON.stringify(posted));
      assert.match(posted.error, problem);
      assert.deepEqual(seen, []);
    }
  }
});

const HEAD = 'HTTP/1.1 200 OK\r\n';
/** Writes for as long as anybody takes it. */
const pouring =
  (text: string, first = '') =>
  (socket: Socket): void => {
    const block = text.repeat(Math.ceil(60_000 / text.length));
    const pour = (): void => void (socket.destroyed || socket.write(block));
    socket.write(first);
    socket.on('drain', pour);
    pour();
  };
const saying = (text: string) => (socket: Socket) => void socket.write(text);

/** What a receiver does with its connection, and how the attempt ends. */
const HOSTILE: Readonly<Record<string, readonly [(socket: Socket) => void, status: number | RegExp]>> = {
  'headers without end': [pouring('x-header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n', HEAD), /Headers Overflow/i],
  'one header without end': [pouring('x'.repeat(1000), `${HEAD}x: `), /Headers Overflow/i],
  'a status line without end': [pouring('x'.repeat(1000), 'HTTP/1.1 200 '), /longer than/],
  'headers one by one': [
    (socket) => {
      socket.write(HEAD);
      const timer = setInterval(() => socket.write('x: 1\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    },
    /longer than/,
  ],
  'early hints without end': [pouring('HTTP/1.1 103 Early Hints\r\nx: 1\r\n\r\n'), /longer than/],
  'trailers without end': [pouring('x: 1\r\n', `${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n`), 200],
  'chunks of one byte without end': [pouring('1\r\nx\r\n', `${HEAD}transfer-encoding: chunked\r\n\r\n`), 200],
  'a body one byte at a time': [
    (socket) => {
      socket.write(`${HEAD}content-length: 1000000\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    },
    200,
  ],
  'encodings upon encodings': [
    saying(`${HEAD}content-encoding: ${'gzip, '.repeat(1000)}br\r\ncontent-length: 4\r\n\r\ngzip`),
    200,
  ],
  'two lengths': [saying(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`), /content-length/i],
  'a negative length': [saying(`${HEAD}content-length: -1\r\n\r\nx`), /content-length/i],
  'another protocol': [
    saying('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    /upgrade/,
  ],
  'no protocol': [saying('SSH-2.0-OpenSSH_9.6\r\n'), /expected http/i],
  'nothing but zeros': [pouring('\u0000'.repeat(1000)), /expected http/i],
  'an odd status': [saying('HTTP/1.1 999 \r\ncontent-length: 0\r\n\r\n'), 999],
  'a reason with line ends': [saying('HTTP/1.1 200 a\rb\u0000c\r\ncontent-length: 0\r\n\r\n'), /HTTP/],
  'an answer to nothing asked': [saying(`${HEAD}content-length: 0\r\n\r\n`.repeat(50)), 200],
};

/** Those that only the end of their time ends, in ms; a status has to come before it. */
const LASTING: Readonly<Record<string, number>> = {
  'a status line without end': 1_000,
  'headers one by one': 1_000,
  'early hints without end': 1_000,
  'chunks of one byte without end': 3_000,
  'a body one byte at a time': 3_000,
};

test("W3 malformed answers end a webhook's attempt in time, with a status or a reason (CVE-2026-22036)", async () => {
  const judge = async (name: string, deadlineMs: number): Promise<void> => {
    const [behave, wanted] = HOSTILE[name]!;
    const server = createServer((socket) => void socket.once('data', () => behave(socket)));
    const posted = await listening(server, (port) => post(`http://127.0.0.1:${port}/hook`, { deadlineMs }));
    const told = posted.kind === 'answered' ? posted.status : posted.error;
    if (typeof wanted === 'number') assert.equal(told, wanted, name);
    else assert.match(String(told), wanted, name);
    if (posted.kind === 'answered') assert.ok((posted.response ?? '').length <= 1024, name);
  };
  await Promise.all(Object.entries(LASTING).map(([name, ms]) => judge(name, ms)));
  for (const name of Object.keys(HOSTILE)) if (!(name in LASTING)) await judge(name, 20_000);
});

test.run();
