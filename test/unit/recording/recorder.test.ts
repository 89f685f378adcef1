import assert from 'node:assert/strict';
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { interceptDispatchers, interceptFetch } from '../../../src/recording/dispatchers.ts';
import { interceptNodeHttp } from '../../../src/recording/node-http.ts';
import { FORMAT, type ExchangePart } from '../../../src/recording/parts.ts';
import { unpackPart } from '../../../src/recording/unpack.ts';
import { NoAnswer } from '../../../src/recording/player.ts';
import { NO_MASKS } from '../../../src/recording/masks.ts';
import { digestOf, toRecordedRequest } from '../../../src/recording/request.ts';
import { standInFor } from '../../../src/recording/stand-ins.ts';
import { insideSession, openTaskKeys } from '../../../src/recording/session.ts';
import { suite } from '../../support/suite.ts';
import { play, record } from './sessions.ts';

const test = suite('recording');

async function withServer<T>(use: (url: string) => Promise<T>): Promise<T> {
  const server = http.createServer((request, reply) => {
    request.resume();
    request.on('end', () => {
      reply.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': 'a=b' });
      reply.write('grüße ');
      reply.end(Buffer.from([0, 255, 128]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

// Other tests of this process may have intercepted the clock.
interceptFetch();

const SILENT = {
  ...{ head: () => undefined, data: () => undefined, completed: () => undefined, failed: () => undefined },
};

interface Seen {
  readonly status: number;
  readonly type: string | null | undefined;
  readonly body: Buffer;
}

async function viaFetch(url: string): Promise<Seen> {
  const reply = await fetch(url, { method: 'POST', body: 'question' });
  const body = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, type: reply.headers.get('content-type'), body };
}

const viaHttp = (url: string): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST' }, async (reply) => {
      const chunks: Buffer[] = [];
      for await (const chunk of reply) chunks.push(chunk as Buffer);
      resolve({
        status: reply.statusCode!,
        type: reply.headers['content-type'],
        body: Buffer.concat(chunks),
      });
    });
    request.on('error', reject);
    request.write('ques');
    request.end('tion');
  });

for (const [name, call] of [
  ['fetch', viaFetch],
  ['node:http', viaHttp],
] as const)
  test(`a request by ${name} is recorded byte for byte, and answered alike without network`, async () => {
    interceptDispatchers(true);
    interceptNodeHttp();
    // given
    const { parts, recorder } = record();
    const [url, live] = await withServer(
      async (base) => [`${base}/x`, await insideSession(recorder, () => call(`${base}/x`))] as const,
    );
    // when
    const { player, differences } = play(parts);
    const replayed = await insideSession(player, () => call(url));
    // then
    assert.deepEqual(replayed, live);
    assert.equal(differences.length, 0);
    const [exchange] = parts as ExchangePart[];
    assert.equal(exchange!.task, '1 agent');
    assert.equal(Buffer.from(exchange!.request.body!).toString(), 'question');
    assert.equal(JSON.stringify(exchange!.answer!.headers).includes('a=b'), false);
    // A second time there is no answer left, and the server is gone.
    await assert.rejects(insideSession(player, () => call(url)));
    assert.equal(differences.length, 1);
  });

test('a recording ends with a mark at its limit, and nothing follows', async () => {
  // given
  const { parts, recorder } = record({ maxBytes: 200 });
  // when
  await withServer(async (url) => {
    for (let call = 0; call < 3; call++)
      await insideSession(recorder, () => viaFetch(`${url}/${'x'.repeat(50)}`));
  });
  // then
  assert.deepEqual(
    parts.map(({ kind }) => kind),
    ['cut'],
  );
});

test('a request that breaks off is recorded with its error and fails alike', async () => {
  // given
  const { parts, recorder } = record();
  const url = await withServer(async (base) => base);
  const failed = insideSession(recorder, () => viaFetch(url));
  await assert.rejects(failed, { name: 'TypeError', message: 'fetch failed' });
  // when
  const { player } = play(parts);
  const again = insideSession(player, () => viaFetch(url));
  // then
  await assert.rejects(again, (error: Error) => (error.cause as { code?: string }).code === 'ECONNREFUSED');
});

test('parallel requests of one task find their own answers, which come in the recorded order', async () => {
  // given
  const { parts, recorder } = record();
  const request = { method: 'POST', url: 'http://model/' };
  for (const text of ['a', 'b']) {
    const exchange = recorder.open(request)!;
    exchange.sent(Buffer.from(text));
    exchange.answered(200, 'OK', []);
    exchange.received(Buffer.from(`to ${text}`));
    exchange.ended();
  }
  // when
  const { player } = play(parts);
  const received: string[] = [];
  const receiver = { ...SILENT, data: (chunk: Buffer) => void received.push(chunk.toString()) };
  const ended = ['b', 'a'].map(
    (text) =>
      new Promise<void>((resolve) =>
        player.reply(request, Buffer.from(text), { ...receiver, completed: resolve }),
      ),
  );
  await Promise.all(ended);
  // then
  assert.deepEqual(received, ['to a', 'to b']);
  assert.throws(() => player.reply(request, Buffer.from('c'), SILENT), NoAnswer);
});

test('secrets are masked in URL, request and answer, also where a chunk ends within one (A4)', () => {
  // given
  const secret = 'grüße-4711';
  const standIn = standInFor('test 0', secret);
  const { parts, recorder } = record({ secrets: [secret] });
  const exchange = recorder.open({
    method: 'GET',
    url: `http://ada:pw@model/${secret}?token=ab%2Fcd&q=${encodeURIComponent(secret)}&keyword=ab%2Fcd`,
  })!;
  const bytes = Buffer.from(`before ${secret} after`);
  exchange.sent(bytes);
  exchange.answered(200, `for ${secret}`, [
    ['x-request-id', 'r'],
    ['location', `/next?code=${'c'.repeat(9)}&of=${encodeURIComponent(secret)}`],
  ]);
  exchange.received(bytes.subarray(0, 10));
  exchange.received(bytes.subarray(10));
  // when
  exchange.ended();
  // then
  const [{ request, answer }] = parts as [ExchangePart];
  const encoded = encodeURIComponent(standIn);
  const [, token] = /^http:\/\/model\/[^?]+\?token=([a-z]{2}%2F[a-z]{2})&/.exec(request.url) ?? [];
  assert.notEqual(token, 'ab%2Fcd');
  assert.equal(request.url, `http://model/${encoded}?token=${token}&q=${encoded}&keyword=ab%2Fcd`);
  assert.equal(Buffer.from(request.body!).toString(), `before ${standIn} after`);
  assert.equal(Buffer.from(answer!.body).toString(), `before ${standIn} after`);
  assert.deepEqual(
    answer!.chunks.map(([, bytes]) => bytes),
    [10, bytes.length - 10],
  );
  assert.equal(answer!.statusText, `for ${standIn}`);
  const [[name, value] = [], ...others] = answer!.headers;
  assert.equal(name, 'location');
  assert.match(value!, new RegExp(`^/next\\?code=(?!c{9})[a-z]{9}&of=${encoded}$`));
  assert.equal(others.length, 0);
});

test('requests to the tracing service are left out, and those of other hosts are not', () => {
  const { recorder } = record();
  const open = (url: string) => recorder.open({ method: 'POST', url });
  assert.equal(open('https://api.smith.langchain.com/runs'), undefined);
  assert.ok(open('https://smith.langchain.com.example.org/runs'));
});

test('a digest leaves out no id, time or query value, only the boundary that transport draws', () => {
  const of = (body: string, url = 'http://model/'): string =>
    digestOf(toRecordedRequest({ method: 'POST', url, body: Buffer.from(body) }, NO_MASKS));
  const [a, b] = ['5b8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a01', '0a8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a02'];
  assert.notEqual(of(a), of(b));
  assert.notEqual(of('2026-11-25T10:00:00.000Z'), of('2026-11-25T10:00:00.001Z'));
  assert.notEqual(of('x', 'http://model/?q=1'), of('x', 'http://model/?q=2'));
  assert.equal(of('------formdata-undici-012345678901'), of('------formdata-undici-112345678901'));
});

test('ids and times of a request may differ where several attempts were recorded', () => {
  // given
  const { parts, recorder } = record();
  const request = { method: 'POST', url: 'http://model/' };
  const exchange = recorder.open(request)!;
  exchange.sent(Buffer.from('at 2026-11-25T10:00:00Z'));
  exchange.answered(200, 'OK', []);
  exchange.ended();
  const ask = (isWhole: boolean) =>
    play(parts, undefined, isWhole).player.reply(request, Buffer.from('at 2026-11-25T11:00:00Z'), SILENT);
  // then
  assert.equal(ask(false).kind, 'answer');
  assert.throws(() => ask(true), NoAnswer);
});

test('what was recorded and is not asked for again is named, ended or not', async () => {
  // given
  const { parts, recorder } = record();
  const urls = ['http://model/1', 'http://model/2', 'http://model/3'];
  const [one, two] = urls.map((url) => recorder.open({ method: 'GET', url })!);
  for (const exchange of [one!, two!]) {
    exchange.answered(200, 'OK', []);
    exchange.ended();
  }
  recorder.store([{ kind: 'get', namespace: ['a'], key: 'read' }]).answered([null]);
  const put = (n: number) => [{ kind: 'put', namespace: ['a'], key: 'k', value: { n } }];
  recorder.store(put(1)).answered([null]);
  recorder.end();
  // when
  const { player } = play(parts);
  player.reply({ method: 'GET', url: urls[0]! }, new Uint8Array(), SILENT);
  // then
  const { exchanges, writes } = await player.unused();
  assert.deepEqual(
    exchanges.map(({ request }) => request.url),
    urls.slice(1),
  );
  assert.deepEqual(writes, [{ task: '1 agent', request: put(1)[0] }]);
  await assert.rejects(player.stored(put(2)), NoAnswer);
});

test('a task is named by step, nodes and position among parallel ones, never by an id', () => {
  const { keyOf: taskKeyOf, nodeOf } = openTaskKeys();
  const id = '5b8a2f8e-7a0f-4a5b-9d0d-2c7f1f4f6a01';
  const metadata = { langgraph_step: 3, langgraph_node: 'b', langgraph_checkpoint_ns: `a:${id}|b:${id}` };
  assert.equal(taskKeyOf({ metadata }), '3 a|b');
  const pushed = { ...metadata, langgraph_path: ['__pregel_push', 2, false] };
  assert.equal(taskKeyOf({ metadata: pushed }), '3 a|b ["__pregel_push",2,false]');
  assert.equal(taskKeyOf(undefined), '');
  assert.equal(nodeOf(id), 'b');
  // Tasks of subgraphs have step and position of the task around them.
  const inner = { ...metadata, langgraph_step: 1, langgraph_checkpoint_ns: `a:${id}|b:${id}|c:${id}` };
  assert.equal(taskKeyOf({ metadata: inner }), '1 a|b|c 3 ["__pregel_push",2,false]');
});

test('a part of another format is refused with both numbers', () => {
  const head = Buffer.from(JSON.stringify({ format: 1, part: {}, sizes: [] }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  const bytes = zstdCompressSync(Buffer.concat([length, head]));
  assert.throws(() => unpackPart(bytes), { message: `the recording has format 1, expected ${FORMAT}` });
});

test.run();
