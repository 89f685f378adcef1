import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { streamingBodyOf, streamingResponse } from '../../../src/http/streaming-body.ts';
import { sendStreamingBody } from '../../../src/http/send-streaming-body.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/send-streaming-body');

const LONG = 'ü'.repeat(100_000);

test('S3 a short reply does not wait behind a long one', async () => {
  let pass: () => void = () => undefined;
  const inTurn = () => new Promise<void>((resolve) => (pass = resolve));
  const clock = createManualClock(1);
  const server = createServer((request, outgoing) => {
    const steps = [request.url === '/long' ? Buffer.from(LONG) : 'short', ''];
    const reply = {
      ...{ headers: {}, clock, outgoing, expiresAt: undefined },
      ...{ over: new AbortController(), stopping: new AbortController().signal },
    };
    const response = streamingResponse(reply, {
      ...{ headers: {}, idle: ' ', everyMs: 1_000 },
      produce: async () => ({ text: steps.shift() ?? '', last: steps.length === 0 }),
    });
    sendStreamingBody(response, streamingBodyOf(response, outgoing)!, outgoing, {
      inTurn,
      onFault: assert.ifError,
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string): Promise<IncomingMessage> => {
    const [reply] = await once(get({ port, path, host: '127.0.0.1' }), 'response');
    return reply as IncomingMessage;
  };
  try {
    const long = await ask('/long');
    assert.equal(await text(await ask('/short')), ' short');
    assert.equal((long.read() as Buffer | null)?.toString() ?? ' ', ' ');
    pass();
    assert.equal((await text(long)).trim(), LONG);
  } finally {
    server.close();
  }
});

test.run();
