/** Ends of sockets that tell clients why, and whether to come back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { suite } from '../support/suite.ts';
import { PROJECT, withServer, type TestServer } from '../support/with-server.ts';
import { config } from './scene.ts';

const test = suite('protocol: ends of sockets');
const STEERED = {
  config: config('platform.auth.json'),
  overrides: { auth: { file: `${PROJECT}auth-variants.ts`, exportName: 'steered' } },
};

const open = (s: TestServer, threadId: string, headers: Record<string, string>): WebSocket =>
  new WebSocket(`${s.url.replace('http', 'ws')}/threads/${threadId}/stream/events`, { headers });

for (const [what, threadId, headers, status] of [
  ['not allowed', crypto.randomUUID(), { 'x-verdict': 'false' }, 403],
  ['not valid', 'no-uuid', {}, 422],
  ['refused by the handler itself', crypto.randomUUID(), { 'x-verdict': 'forbids' }, 418],
] as const)
  test(`a socket that is ${what} is opened and ends with the status of the stream (delta 4.6)`, () =>
    withServer(STEERED, async (s) => {
      // given: what a stream is answered
      const body = { channels: ['values'] };
      const stream = await s.request('POST', `/threads/${threadId}/stream/events`, body, headers);
      assert.equal(stream.status, status);
      // when
      const socket = open(s, threadId, headers);
      const messages: unknown[] = [];
      socket.on('message', (message) => messages.push(message));
      socket.on('open', () => socket.send(JSON.stringify({ id: 1, method: 'state.get' })));
      const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
      // then
      assert.deepEqual([code, reason.toString()], [4000 + status, stream.json.detail]);
      assert.deepEqual(messages, [], 'no command is read');
    }));

test('a socket of a caller who is not authenticated is refused as a request (delta 4.6, A1)', () =>
  withServer(STEERED, async (s) => {
    const socket = open(s, crypto.randomUUID(), { 'x-authenticate': 'refuses' });
    const [, response] = await once(socket, 'unexpected-response');
    assert.equal(response.statusCode, 401);
    socket.on('error', () => undefined);
    socket.terminate();
  }));

test('a reason that is longer than a close frame holds is cut between characters (delta 4.6)', () =>
  withServer(STEERED, async (s) => {
    const socket = open(s, crypto.randomUUID(), { 'x-verdict': 'rambles' });
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    assert.deepEqual([code, reason.toString()], [4403, 'é'.repeat(61)]);
  }));

test.run();
