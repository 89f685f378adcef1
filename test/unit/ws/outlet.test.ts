import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { openOutlet } from '../../../src/ws/outlet.ts';
import { suite } from '../../support/suite.ts';

const test = suite('ws/outlet');

const atOnce = (): Promise<void> => Promise.resolve();

async function withPair<T>(use: (here: WebSocket, there: WebSocket) => Promise<T>): Promise<T> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const there = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[here]] = (await Promise.all([once(server, 'connection'), once(there, 'open')])) as [
    [WebSocket],
    [],
  ];
  try {
    return await use(here, there);
  } finally {
    there.terminate();
    server.close();
  }
}

test('S3 a sender waits while its socket is not read', () =>
  withPair(async (here, there) => {
    const outlet = openOutlet(here, atOnce);
    there.pause();
    let received = 0;
    there.on('message', () => (received += 1));
    const text = 'x'.repeat(100_000);
    await outlet.send('small');
    let sent = 1;
    let last = Promise.resolve();
    // Until what lies between the two is full.
    while (here.bufferedAmount < 1_000_000) {
      last = outlet.send(text);
      sent += 1;
      await turn();
    }
    let taken = false;
    void last.then(() => (taken = true));
    for (let i = 0; i < 5; i += 1) await turn();
    assert.equal(taken, false);
    there.resume();
    await last;
    assert.equal(outlet.progressed(), true);
    assert.equal(outlet.progressed(), false);
    while (received < sent) await turn();
  }));

test('given a socket that is gone, when texts are sent, then nothing waits and nothing is thrown', () =>
  withPair(async (here, there) => {
    const outlet = openOutlet(here, atOnce);
    const closed = once(here, 'close');
    there.terminate();
    await closed;
    for (let i = 0; i < 10; i += 1) await outlet.send('x'.repeat(100_000));
    await outlet.reply({ type: 'error' });
  }));

test('S3 a short text does not wait behind a long one', () =>
  withPair(async (here, there) => {
    let pass: () => void = () => undefined;
    const outlet = openOutlet(here, () => new Promise((resolve) => (pass = resolve)));
    const received: string[] = [];
    there.on('message', (data: Buffer) => received.push(data.toString().slice(0, 5)));
    const long = outlet.send(Buffer.from('long '.repeat(20_000)));
    await outlet.send('short');
    while (received.length === 0) await turn();
    assert.deepEqual(received, ['short']);
    pass();
    await long;
    while (received.length === 1) await turn();
    assert.deepEqual(received, ['short', 'long ']);
  }));

test.run();
