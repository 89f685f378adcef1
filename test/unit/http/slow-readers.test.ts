import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { noteSent, watchSlowReaders } from '../../../src/http/slow-readers.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { get, openRaw, readAll } from '../../support/raw-client.ts';
import { suite } from '../../support/suite.ts';

const test = suite('slow readers');
const MB = 2 ** 20;
const SIZE = 16 * MB;
const MOST = 240 * MB;
const LOOK_MS = 500;
const CLOSING = get('/').replace('host: x', 'host: x\r\nconnection: close');

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate);
};

/** A watched server that answers everything with the same bytes. */
async function listen(
  most: number,
  note: (incoming: IncomingMessage, body: Buffer) => void = () => undefined,
) {
  const body = Buffer.alloc(SIZE, 'x');
  const server = createServer((incoming, reply) => {
    note(incoming, body);
    reply.end(body);
  });
  const clock = createManualClock();
  const stop = watchSlowReaders(server, clock, most);
  const open = new Set<Socket>();
  server.on('connection', (socket) => open.add(socket.once('close', () => open.delete(socket))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, clock, stop, open, port: (server.address() as AddressInfo).port };
}

test('S3 of the readers with too much unread output the slowest are ended, active ones are not', async () => {
  const { server, clock, stop, open, port } = await listen(MOST);
  const clients: Socket[] = [];
  const waiting = (): number => [...open].reduce((sum, socket) => sum + socket.writableLength, 0);
  const leave = async (count: number): Promise<void> => {
    const before = waiting();
    for (let i = 0; i < count; i++) clients.push((await openRaw(port, get('/'))).pause());
    // Some of it lies in the buffers of the system.
    await until(() => waiting() > before + (count * SIZE) / 2);
  };
  /** Takes a little between two looks. */
  const steady = await openRaw(port, CLOSING);
  clients.push(steady);
  let taken = 0;
  let isHurried = false;
  steady.pause().on('data', (chunk: Buffer) => {
    taken += chunk.length;
    if (!isHurried) steady.pause();
  });
  const look = async (): Promise<void> => {
    for (const enough = taken + 600_000; taken < enough; await new Promise(setImmediate)) steady.resume();
    await clock.advance(LOOK_MS);
  };
  try {
    await leave(6);
    for (let looks = 0; looks < 4; looks++) await look();
    const first = [...open].slice(1);
    await leave(6);
    for (let looks = 0; looks < 4; looks++) await look();
    assert.equal(open.size, 13, 'little waits: nobody is ended');
    await leave(3);
    const reader = await openRaw(port, CLOSING);
    assert.ok((await readAll(reader)).length > SIZE);
    await look();
    await until(() => waiting() <= MOST);
    assert.equal(first.filter((socket) => open.has(socket)).length, 0, 'the first go first');
    assert.ok(open.size > 5, 'not all have to go');
    isHurried = true;
    steady.resume();
    await once(steady, 'close');
    assert.ok(taken > SIZE, 'who takes a little at a time is not ended');
  } finally {
    stop();
    for (const client of clients) client.destroy();
    server.close();
  }
});

for (const how of [
  'held once for all of them',
  'made for each',
  'made for each after one that was held once',
])
  test(`given many who take nothing of one reply, when it is ${how}, then ${how.startsWith('held') ? 'nobody is' : 'some are'} ended (S3)`, async () => {
    const isShared = how.startsWith('held');
    const { server, clock, stop, open, port } = await listen(4 * SIZE, ({ socket }, body) => {
      if (how !== 'made for each') noteSent(socket, body);
      if (!isShared) noteSent(socket, undefined);
    });
    const clients: Socket[] = [];
    try {
      for (let i = 0; i < 10; i++) clients.push((await openRaw(port, get('/'))).pause());
      await until(() => [...open].filter((socket) => socket.writableLength > SIZE / 2).length === 10);
      for (let looks = 0; looks < 4; looks++) await clock.advance(LOOK_MS);
      if (!isShared) await until(() => open.size < 10);
      assert.equal(open.size === 10, isShared);
    } finally {
      stop();
      for (const client of clients) client.destroy();
      server.close();
    }
  });

test.run();
