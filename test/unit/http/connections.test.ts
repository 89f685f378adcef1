import * as assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { endIdleConnections } from '../../../src/http/connections.ts';
import { get, heard, openRaw, readAll } from '../../support/raw-client.ts';
import { suite } from '../../support/suite.ts';

const test = suite('http/connections');
const LARGE = 30_000_000;

test('at the close each owed reply is sent in full and no connection stays open', async () => {
  const replies = new Map<string, ServerResponse>();
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, reply) => {
    replies.set(request.url!, reply);
    if (request.url === '/large') reply.end(Buffer.alloc(LARGE, 'x'));
    if (request.url === '/small') reply.end('small');
  });
  endIdleConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  const open = async (path: string): Promise<Socket> => {
    const socket = await openRaw(port, get(path));
    clients.push(socket);
    return socket;
  };
  try {
    const unused = connect(port, '127.0.0.1');
    await once(unused, 'connect');
    const idle = await open('/small');
    await heard(idle, 'small');
    const large = await open('/large');
    await heard(large, 'HTTP/1.1 200');
    large.pause();
    const late = await open('/late');
    const [begun, another] = [await open('/begun'), await open('/another')];
    while (replies.size < 5) await new Promise(setImmediate);
    replies.get('/begun')!.write('begun ');

    const ends = [readAll(late), readAll(begun), readAll(another)];
    const closed = once(server, 'close');
    server.close();
    await Promise.all([unused, idle].map((socket) => socket.destroyed || once(socket.resume(), 'close')));
    for (const path of ['/late', '/begun', '/another']) replies.get(path)!.end(`end of ${path}`);
    const [toLate = '', toBegun = '', toAnother = ''] = await Promise.all(ends);
    assert.match(toLate, /end of \/late/);
    assert.match(toBegun, /begun [^]*end of \/begun/);
    assert.match(toAnother, /end of \/another/);
    let taken = 0;
    for await (const chunk of large) taken += (chunk as Buffer).length;
    assert.ok(taken > LARGE - 100_000, `${taken} of ${LARGE} came`);
    await closed;
  } finally {
    for (const client of clients) client.destroy();
    server.closeAllConnections();
  }
});

test.run();
