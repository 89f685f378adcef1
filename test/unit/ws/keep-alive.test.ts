import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive } from '../../../src/ws/keep-alive.ts';
import { openOutlet, type Outlet } from '../../../src/ws/outlet.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('ws/keep-alive');

const INTERVAL_MS = 30_000;

interface Pair {
  readonly here: WebSocket;
  readonly there: WebSocket;
  readonly outlet: Outlet;
  readonly clock: ManualClock;
}

/** Two ends of a socket; the one here is kept alive, the one there answers no ping. */
async function withPair(use: (pair: Pair) => Promise<void>): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const there = new WebSocket(url, { autoPong: false });
  const [[here]] = (await Promise.all([once(server, 'connection'), once(there, 'open')])) as [
    [WebSocket],
    [],
  ];
  const clock = createManualClock();
  const outlet = openOutlet(here, () => Promise.resolve());
  const stop = keepAlive(here, outlet, clock);
  try {
    await use({ here, there, outlet, clock });
  } finally {
    stop();
    there.terminate();
    server.close();
  }
}

/** Moves the clock to the next ping, and waits until the other end has it. */
async function ping({ there, clock }: Pair): Promise<void> {
  const pinged = once(there, 'ping');
  await clock.advance(INTERVAL_MS);
  await pinged;
}

test('a socket that answers pings or sends messages stays open', () =>
  withPair(async (pair) => {
    for (const sign of ['pong', 'message'] as const) {
      await ping(pair);
      const heard = once(pair.here, sign);
      if (sign === 'pong') pair.there.pong();
      else pair.there.send('text');
      await heard;
    }
    await ping(pair);
    assert.equal(pair.here.readyState, WebSocket.OPEN);
  }));

test('a socket that answers no ping but takes what is sent stays open (S3)', () =>
  withPair(async (pair) => {
    await ping(pair);
    // given: a client that reads, and whose answer to the ping waits behind much else
    await pair.outlet.send('text');
    while (pair.here.bufferedAmount > 0) await turn();
    await ping(pair);
    assert.equal(pair.here.readyState, WebSocket.OPEN);
    // when: it takes nothing any more
    const closed = once(pair.here, 'close');
    await pair.clock.advance(INTERVAL_MS);
    // then
    await closed;
  }));

test.run();
