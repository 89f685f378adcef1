import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { watchSlowReaders } from '../../../src/http/slow-readers.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { get, openRaw, readAll } from '../../support/raw-client.ts';
import { suite } from '../../support/suite.ts';

const test = suite('slow readers');
const MB = 2 ** 20;

test('given more for clients to take than may wait, when time passes, then those who left it longest are ended, and who reads is not (S3)', async () => {
  const body = Buffer.alloc(8 * MB, 'x');
  const server = createServer((_, reply) => reply.end(body));
  const stop = watchSlowReaders(server, systemClock(), 30 * MB);
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  /** Takes its reply, if slowly. */
  let steadyBytes = 0;
  const stroll = (client: Socket): NodeJS.Timeout => {
    client.pause().on('data', (chunk: Buffer) => {
      steadyBytes += chunk.length;
      client.pause();
    });
    return setInterval(() => client.resume(), 40);
  };
  const leave = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) clients.push((await openRaw(port, get('/'))).pause());
  };
  const steady = await openRaw(port, get('/').replace('host: x', 'host: x\r\nconnection: close'));
  const strolling = stroll(steady);
  try {
    await leave(2);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    assert.equal(open.size, 3, 'little waits: nobody is ended');
    await leave(6);
    const reader = await openRaw(port, get('/').replace('host: x', 'host: x\r\nconnection: close'));
    assert.ok((await readAll(reader)).length > 8 * MB);
    const end = performance.now() + 5_000;
    while (open.size > 4 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    const waiting = [...open].reduce((sum, socket) => sum + socket.writableLength, 0);
    assert.ok(waiting <= 30 * MB, `${waiting / MB} MB wait`);
    assert.ok(open.size > 0, 'nobody is left');
    if (!steady.closed) await once(steady, 'close');
    assert.ok(steadyBytes > 8 * MB, `${steadyBytes} bytes were taken steadily`);
  } finally {
    stop();
    clearInterval(strolling);
    steady.destroy();
    for (const client of clients) client.destroy();
    server.close();
  }
});

test.run();
