/**
 * Clients that send too much, too slowly, or read nothing, against the real program: its memory stays bounded, others
 * are served meanwhile, and all that was taken comes back. `CLIENTS=2000` for the long form.
 */
import * as assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { collect } from '../e2e/frames.ts';
import { withPrograms, type ServerProgram } from '../e2e/programs.ts';
import { figuresLacking, openSockets } from '../support/process-figures.ts';
import { get, heard, openRaw, readAll, upgrade, webSocketFrame } from '../support/raw-client.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { growthDuring } from './clients/growth.ts';
import { startOthers } from './clients/others.ts';

const test = suite('hostile clients');
const lacking = figuresLacking();
const MORE = fileURLToPath(new URL('../fixtures/project/platform.more.json', import.meta.url));
const CLIENTS = Number(process.env['CLIENTS'] ?? 180);
const MB = 2 ** 20;
const PATIENCE_MS = scaled(60_000);
/** Between two looks at the server's sockets. */
const POLL_MS = 20;

/** Resolves when the server holds no more sockets than that. */
async function untilSockets(server: ServerProgram, most: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (openSockets(server.pid) > most) {
    assert.ok(performance.now() < end, `${openSockets(server.pid)} sockets are open, ${most} were before`);
    await server.ask('GET', '/ok');
    await later(POLL_MS);
  }
}

const post = (headers: string): string =>
  `POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;

/** Sends blocks for as long as they are taken, `mb` at most; what came back. */
async function pour(socket: Socket, mb: number, block: Buffer): Promise<{ sent: number; reply: string }> {
  const reply = readAll(socket);
  let sent = 0;
  while (sent < mb * MB && socket.writable) {
    sent += block.length;
    if (!socket.write(block))
      await new Promise<void>((resolve) => {
        for (const event of ['drain', 'close']) socket.once(event, () => resolve());
      });
  }
  return { sent, reply: await reply };
}

test(
  "bodies of 100 MB are cut off, false lengths and packed bodies refused, at no other client's cost",
  () =>
    withPrograms(async ({ serve }) => {
      const server = await serve({ env: { PLATFORM_MAX_BODY_BYTES: `${4 * MB}` } });
      const others = startOthers(server);
      const block = Buffer.alloc(65_536, 'x');
      const grown = await growthDuring(server, async () => {
        // Refused before any of it was sent.
        const announced = await openRaw(server.port, post(`content-length: ${100 * MB}`));
        assert.match(await readAll(announced), /^HTTP\/1.1 413 /);

        const chunk = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);
        const chunked = await pour(
          await openRaw(server.port, post('transfer-encoding: chunked')),
          100,
          chunk,
        );
        // A client that goes on sending may lose the reply with its connection.
        assert.match(chunked.reply, /^(HTTP\/1.1 413 |$)/);
        assert.ok(chunked.sent < 90 * MB, `${chunked.sent}`);

        // Each within its limit, together beyond what bodies may hold. Nobody finishes.
        const many = await Promise.all(
          Array.from({ length: 40 }, () => openRaw(server.port, post(`content-length: ${4 * MB}`))),
        );
        const replies = many.map(readAll);
        for (const socket of many) socket.write(Buffer.alloc(3 * MB, ' '));
        const refused = await Promise.race(replies);
        assert.match(refused, /^HTTP\/1.1 503 [^]*retry-after: 1/);
        for (const socket of many) socket.destroy();
      });
      assert.ok(grown < 160 * MB, `${grown / MB} MB more`);

      const packed = gzipSync(Buffer.alloc(50 * MB, ' '));
      const zipped = await fetch(`${server.url}/threads`, {
        method: 'POST',
        headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
        body: packed,
      });
      assert.equal(zipped.status, 415);
      const short = await openRaw(server.port, `${post('content-length: 1000')}{}`);
      short.end();
      assert.doesNotMatch(await readAll(short), /^HTTP\/1.1 200/);
      const wide = await server.open('POST', '/threads', { metadata: { list: Array(600_000).fill([]) } });
      assert.equal(wide.status, 413);
      const times = await others.stop();
      assert.ok(
        times.length > 1 && times[times.length >> 1]! < scaled(1_000),
        `${times.length}: ${times.slice(-3)}`,
      );
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test(
  'clients that never finish headers or bodies lose their connections while others are served',
  () =>
    withPrograms(async ({ serve }) => {
      const env = { PLATFORM_HEADERS_TIMEOUT_SECS: '1', PLATFORM_REQUEST_TIMEOUT_SECS: '2' };
      const server = await serve({ env });
      const others = startOthers(server);
      const before = openSockets(server.pid);
      const words = ['', 'GET /ok HTTP/1.1\r\nx-a: ', `${post('content-length: 1000')}{`];
      const sockets = await Promise.all(
        Array.from({ length: CLIENTS }, (_, i) => openRaw(server.port, words[i % 3]!)),
      );
      const drip = setInterval(() => {
        for (const [i, socket] of sockets.entries()) if (i % 3 > 0 && socket.writable) socket.write('x');
      }, 300);
      try {
        const began = performance.now();
        const replies = await Promise.all(sockets.map(readAll));
        // Without the settings it would be a minute.
        assert.ok(performance.now() - began < 45_000);
        assert.ok(replies.filter((text) => text.startsWith('HTTP/1.1 408 ')).length > CLIENTS / 2);
      } finally {
        clearInterval(drip);
      }
      const times = await others.stop();
      assert.ok(
        times.length > 1 && times[times.length >> 1]! < scaled(1_000),
        `${times.length}: ${times.slice(-3)}`,
      );
      await untilSockets(server, before + 5);
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test(
  'readers that stop at a large stream cost little and are cut in the end; active ones get all (S3)',
  () =>
    withPrograms(async ({ serve }) => {
      const server = await serve({
        args: ['--config', MORE],
        env: { PLATFORM_STALLED_TIMEOUT_SECS: '3' },
      });
      const [count, size] = [300, 50_000];
      const order = { assistant_id: 'flood', input: {}, stream_mode: 'custom' };
      const run = (await server.ask('POST', '/runs', { ...order, config: { configurable: { count, size } } }))
        .json;
      const path = `/threads/${run.thread_id}/runs/${run.run_id}`;
      await server.ask('GET', `${path}/join`);
      const before = openSockets(server.pid);
      const readers = Math.ceil(CLIENTS / 3);
      const slow: Socket[] = [];
      const grown = await growthDuring(server, async () => {
        const open = async (): Promise<void> => {
          const socket = await openRaw(server.port, get(`${path}/stream`));
          await heard(socket, 'event: metadata');
          slow.push(socket.pause());
        };
        await Promise.all(Array.from({ length: readers }, open));
        const fast = await collect(await server.open('GET', `${path}/stream`));
        assert.equal(fast.frames.length, count + 1);
      });
      assert.ok(grown < 160 * MB + readers * 0.4 * MB, `${grown / MB} MB more for ${readers} readers`);
      // Paused sockets do not hear of their end: the server is asked.
      await untilSockets(server, before + 5);
      const taken = slow.map(({ bytesRead }) => bytesRead);
      assert.ok(Math.max(...taken) < count * size, 'somebody took everything');
      for (const socket of slow) socket.destroy();
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test(
  'sockets that flood, announce huge or endless messages or only ping are closed with their code',
  () =>
    withPrograms(async ({ serve }) => {
      const server = await serve({ env: { PLATFORM_MAX_BODY_BYTES: `${4 * MB}` } });
      const others = startOthers(server);
      const before = openSockets(server.pid);
      const open = async (): Promise<Socket> => {
        const socket = await openRaw(server.port, upgrade(`/threads/${crypto.randomUUID()}/stream/events`));
        await heard(socket, 'HTTP/1.1 101 ');
        return socket;
      };
      const codeOf = async (socket: Socket): Promise<number> => {
        const all = Buffer.from(await readAll(socket), 'latin1');
        const at = all.lastIndexOf(0x88);
        return at < 0 ? 0 : all.readUInt16BE(at + 2);
      };
      const grown = await growthDuring(server, async () => {
        const monster = await open();
        monster.write(webSocketFrame(1, Buffer.alloc(10), { announced: 100 * MB }));
        assert.equal(await codeOf(monster), 1009);

        const endless = await open();
        const closed = codeOf(endless);
        const part = webSocketFrame(0, Buffer.from('x'), { last: false });
        endless.write(webSocketFrame(1, Buffer.from('x'), { last: false }));
        const parts = Buffer.concat(Array(1_000).fill(part) as Buffer[]);
        for (let i = 0; i < 40 && endless.writable; i++) endless.write(parts);
        assert.equal(await closed, 1008);

        const pinger = await open();
        pinger.pause();
        const pings = Buffer.concat(Array(500).fill(webSocketFrame(9, Buffer.alloc(125))) as Buffer[]);
        for (let i = 0; i < 100 && pinger.writable; i++) pinger.write(pings);
        pinger.resume();
        pinger.end();
        await readAll(pinger);

        // Commands nobody waits for: they are answered one by one, and not read while their answers are not.
        const flood = await open();
        flood.pause();
        const command = webSocketFrame(1, Buffer.from('{"id":1,"method":"no.such"}'));
        const commands = Buffer.concat(Array(1_000).fill(command) as Buffer[]);
        for (let i = 0; i < 200; i++) flood.write(commands);
        const large = await open();
        large.pause();
        const text = Buffer.from(`{"id":1,"method":"${'x'.repeat(3 * MB)}"}`);
        for (let i = 0; i < 30; i++) large.write(webSocketFrame(1, text));
        await others.stop();
        for (const socket of [flood, large]) socket.destroy();
      });
      assert.ok(grown < 200 * MB, `${grown / MB} MB more`);
      const times = await startOthers(server).stop();
      assert.equal(times.length, 1);
      await untilSockets(server, before + 5);
      assert.equal(await server.end('SIGTERM'), 0, server.output());
    }),
  { lacking },
);

test.run();
