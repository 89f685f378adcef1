/** Very many streams, of every kind, whose clients go away in one moment. `CLIENTS=2000 ROUNDS=50` for the long form. */
import * as assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { breathe } from '../../src/kernel/breathe.ts';
import { MORE, newThread } from '../conformance/scene.ts';
import { collectGarbage } from '../support/garbage.ts';
import { get, heard, openRaw, postJson, upgrade } from '../support/raw-client.ts';
import type { RunBody } from '../support/api-types.ts';
import { scaled } from '../support/scaled.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';

const test = suite('aborted streams');

const CLIENTS = Number(process.env['CLIENTS'] ?? 180);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** Much less than what a forgotten reader of a stream keeps alive; the test itself keeps a line for each request. */
const BYTES_EACH = 4_000;

const count = (kind: string): number =>
  process.getActiveResourcesInfo().filter((each) => each === kind).length;

const metric = async (s: TestServer, name: string): Promise<number> =>
  (await s.request('GET', '/metrics?format=json')).json[name];

/** Resolves when nothing waits for runs any more and only those that behave are connected. */
async function untilGone(s: TestServer, timers: number): Promise<void> {
  const end = performance.now() + scaled(120_000);
  for (;;) {
    const readers = await metric(s, 'rewound_stream_readers');
    const open = await metric(s, 'rewound_open_connections');
    // A gated run and the server's own maintenance have timers that come and go.
    if (readers === 0 && open <= 3 && count('Timeout') <= timers + 20) return;
    assert.ok(performance.now() < end, `${readers} readers, ${open} connections, ${count('Timeout')} timers`);
  }
}

test('very many streams aborted at one moment, also midway, leave nothing behind (S3)', () =>
  withServer({ config: MORE }, async (s) => {
    const threadId = await newThread(s);
    const gate = join(s.dir, 'gate');
    const create = async (thread: string, order: RunBody): Promise<string> =>
      (await s.request('POST', `/threads/${thread}/runs`, { input: {}, ...order })).json.run_id;
    const waiting = await create(threadId, { assistant_id: 'gate', config: { configurable: { gate } } });
    const large = await newThread(s);
    const flood = await create(large, {
      ...{ assistant_id: 'flood', stream_mode: 'custom' },
      config: { configurable: { count: 300, size: 50_000 } },
    });
    await s.request('GET', `/threads/${large}/runs/${flood}/join`);

    const body = '{"channels":["lifecycle","custom"]}';
    const kinds: readonly (readonly [request: string, first: string])[] = [
      [get(`/threads/${threadId}/runs/${waiting}/stream`), 'event: metadata'],
      [get(`/threads/${threadId}/runs/${waiting}/join`), '\n\r\n'],
      [get(`/threads/${threadId}/stream`), ': heartbeat'],
      [get(`/threads/${large}/runs/${flood}/stream`), 'event: custom'],
      [postJson(`/threads/${threadId}/stream/events`, body), 'lifecycle'],
      [upgrade(`/threads/${threadId}/stream/events`), 'HTTP/1.1 101 '],
    ];
    const port = Number(new URL(s.url).port);
    const open = async (i: number): Promise<Socket> => {
      const [request, first] = kinds[i % kinds.length]!;
      const socket = await openRaw(port, request);
      await heard(socket, first);
      return socket.pause();
    };
    const heaps: number[] = [];
    const timers = count('Timeout');
    for (let round = 0; round < ROUNDS; round++) {
      const sockets = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => open(i)));
      assert.ok(count('TCPSocketWrap') >= 2 * CLIENTS);
      for (const [i, socket] of sockets.entries())
        if (i % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
      await untilGone(s, timers);
      // Replies that waited for their turn to be sent hear one by one that their clients have left.
      for (let i = 0; i < CLIENTS; i++) await breathe();
      await collectGarbage();
      heaps.push(process.memoryUsage().heapUsed);
    }
    const grown = (heaps.at(-1)! - heaps[0]!) / (CLIENTS * (ROUNDS - 1));
    assert.ok(grown < BYTES_EACH, `${Math.round(grown)} bytes of each stream stayed: ${heaps}`);
    assert.ok(count('TCPSocketWrap') < 20, `${count('TCPSocketWrap')} sockets`);
    // The run did not mind.
    await s.request('POST', `/threads/${threadId}/runs/${waiting}/cancel?wait=true`);
    assert.equal((await s.client.runs.get(threadId, waiting)).status, 'interrupted');
  }));

test.run();
