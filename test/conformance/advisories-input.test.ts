/** More classes of faults that servers of this kind had: what clients and graphs write where lines, lengths and paths count. */
import * as assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { startServer } from '../../src/serve.ts';
import { openRaw, readAll } from '../support/raw-client.ts';
import type { RunBody } from '../support/api-types.ts';
import { suite } from '../support/suite.ts';
import { withTempDir } from '../support/temp-dir.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';
import { ALL, openEvents } from './thread-stream.ts';

const test = suite('conformance: lines, lengths and paths');

const LINES = { config: config('platform.lines.json') };

/** Fails unless the text is whole blocks of one event, one id and one line of data, which nobody forged. */
function assertClean(text: string): number {
  const lines = text.split(/\r\n|\r|\n/);
  for (const line of lines)
    assert.match(line, /^(|: heartbeat|event: .*|data: [[{"].*|id: [\d-]+)$/s, JSON.stringify(line));
  const events = lines.filter((line) => line.startsWith('event: '));
  for (const line of events) assert.doesNotMatch(line, /^event: forged/);
  for (const name of ['data: ', 'id: '])
    assert.equal(lines.filter((line) => line.startsWith(name)).length, events.length, name);
  return events.length;
}

test('line ends in names, chunks and errors add no line to a stream (CVE-2026-29085)', () =>
  withServer(LINES, async (s) => {
    for (const graph of ['lines', 'broken-lines']) {
      const { thread_id: id } = (await s.request('POST', '/threads', {})).json;
      const body: RunBody = {
        assistant_id: graph,
        input: { text: 'a' },
        stream_mode: ['values', 'updates', 'custom', 'tasks', 'debug', 'messages-tuple'],
        stream_subgraphs: true,
      };
      const { status, text } = await s.request('POST', `/threads/${id}/runs/stream`, body);
      assert.equal(status, 200);
      assert.ok(assertClean(text) >= 2, text);
      if (graph === 'lines') assert.match(text, /^event: \w+\|oddforgedforged/m);
      const events = await openEvents(s, id, { channels: ALL });
      await events.until(
        ({ method, params }) => method === 'lifecycle' && /^(compl|fail)/.test(params.data.event),
      );
      events.leave();
      assertClean(events.texts.join(''));
    }
    for (const mode of ['custom\r\nevent: forged', 'values\n', '\u0000updates', 'values|x\r\n\r\n']) {
      const body = { assistant_id: 'echo', input: say('x'), stream_mode: [mode] };
      const { status, text } = await s.request('POST', '/runs/stream', body as any);
      assert.equal(status, 422, `${JSON.stringify(mode)}: ${text}`);
    }
  }));

const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

test('A4 given a target or a host that holds credentials, or several of them, when it is asked for, then 4xx, and no log has them', () =>
  withServer({ config: config('platform.auth.json') }, async (s) => {
    const token = 'authorization: Bearer alice-token\r\n';
    const { thread_id: id } = (
      await s.request('POST', '/threads', {}, { authorization: 'Bearer alice-token' })
    ).json;
    const path = `/threads/${id}`;
    for (const [target, host, headers, status] of [
      [`http://canary:pass@localhost${path}`, 'localhost', token, 400],
      [`http://canary@localhost${path}`, 'localhost', token, 400],
      [`http://:canary@localhost${path}/stream/events`, 'localhost', `${token}${UPGRADE}`, 400],
      [`${path}/stream/events`, 'canary:pass@localhost', `${token}${UPGRADE}`, 400],
      [path, 'canary:pass@localhost', token, 400],
      [path, 'localhost/ok?', token, 400],
      [path, 'localhost', `${token}authorization: Bearer bob-token\r\n`, 401],
      [path, 'localhost', `authorization: Bearer bob-token\r\n${token}`, 401],
      [path, 'localhost', 'authorization : Bearer alice-token\r\n', 400],
      [path, 'localhost', 'authorization: Bearer\r\n alice-token\r\n', 400],
      [path, 'localhost', 'authorization: Bearer alice-token\u00a0\r\n', 401],
    ] as const) {
      const closing = headers.includes('upgrade') ? '' : 'connection: close\r\n';
      const text = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${headers}${closing}\r\n`;
      const reply = await readAll(await openRaw(PORT(s), text));
      assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `), `${text}: ${reply}`);
      assert.ok(!reply.includes('canary'), reply);
    }
    assert.ok(!JSON.stringify(s.requests).includes('canary'));
  }));

const PORT = (s: TestServer): number => Number(new URL(s.url).port);
const INNER = 'GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n';
const POST = 'POST /threads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

test('no part of a body is taken for a request, whatever length is declared (CVE-2026-44456)', () =>
  withServer({ overrides: { maxBodyBytes: 2000 } }, async (s) => {
    const before = await s.events();
    const refused = [
      `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${INNER}`,
      `${POST}content-length: 2\r\ncontent-length: ${INNER.length}\r\n\r\n{}${INNER}`,
      `${POST}content-length: 2, 2\r\n\r\n{}${INNER}`,
      `${POST}content-length: +2\r\n\r\n{}${INNER}`,
      `${POST}content-length: 0x2\r\n\r\n{}${INNER}`,
      `${POST}content-length: -1\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding:\u000bchunked\r\n\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n${INNER}`,
      `${POST}transfer-encoding: chunked\r\n\r\n2;${'x'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n${INNER}`,
      `${POST}x: 1\r\n folded\r\ncontent-length: 2\r\n\r\n[${INNER}`,
      `${POST}transfer-encoding: chunked\r\n\r\n${`7d0\r\n${' '.repeat(2000)}\r\n`.repeat(2)}0\r\n\r\n`,
      // Routes that have no use for a body, or refuse before they read one.
      ...['POST /no/such/route', 'DELETE /threads', 'PUT /ok'].map(
        (line) =>
          `${line} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${`7d0\r\n${' '.repeat(2000)}\r\n`.repeat(2)}0\r\n\r\n`,
      ),
    ];
    for (const text of refused) {
      const socket = await openRaw(PORT(s), text);
      const reply = await readAll(socket);
      assert.match(reply, /^HTTP\/1\.1 4\d\d /, `${JSON.stringify(text.slice(0, 200))}: ${reply}`);
      assert.equal(reply.match(/HTTP\/1\.1 /g)?.length, 1, reply);
    }
    assert.deepEqual(
      s.requests.filter(({ path }) => path.includes('smuggled')),
      [],
    );
    assert.deepEqual(await s.events(), before);
  }));

test('given ids of graphs that are paths, URLs or members of every object, when they are named, then nothing is loaded and nothing happens (CVE-2026-34070)', () =>
  withServer({}, async (s) => {
    const before = await s.events();
    for (const id of [
      ...['../../../etc/passwd', '/etc/passwd', 'file:///etc/passwd', './functions.ts:echo', 'node:fs'],
      ...[
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
        'echo/../echo',
        'echo\u0000',
        'ECHO',
        ' echo',
      ],
      ...['data:text/javascript,globalThis.loaded=1', 'https://example.com/graph.js', '%65cho', 'e\u0301cho'],
    ])
      for (const [path, body] of [
        ['/assistants', { graph_id: id }],
        ['/runs/wait', { assistant_id: id }],
        ['/runs/crons', { assistant_id: id, schedule: '0 0 1 1 *' }],
      ] as const) {
        const { status, text } = await s.request('POST', path, body);
        assert.ok([404, 422].includes(status), `${path} ${JSON.stringify(body)}: ${status} ${text}`);
      }
    assert.deepEqual(await s.events(), before);
    assert.equal((globalThis as Record<string, unknown>)['loaded'], undefined);
  }));

test('graphs named by URLs, traversal or object members are refused at start (CVE-2026-34070)', () =>
  withTempDir(async (dir) => {
    writeFileSync(join(dir, 'own.ts'), 'export const graph = 1;');
    const file = join(dir, 'platform.json');
    const started = async (graphs: object): Promise<unknown> => {
      writeFileSync(file, JSON.stringify({ graphs }));
      const told = loadConfigOf(file, dir);
      if (typeof told === 'string') return told;
      return startServer(told, { onFault: () => undefined, onPoisoned: () => undefined }).then(
        (server) => server.stop().then(() => 'started'),
        (error: Error) => error.message,
      );
    };
    const specs = [
      ...['../../../../../../../../etc/passwd:graph', '/etc/passwd:graph', 'https:graph', './none.ts:graph'],
      ...['data:text/javascript,globalThis.loaded=1', 'node:fs', './own.ts:__proto__', './own.ts:toString'],
      ...['./own.ts?x=1:graph', './own.ts#x:graph', './%6fwn.ts:graph', './own.ts\u0000:graph', '.:graph'],
    ];
    const graphs = Object.fromEntries(specs.map((spec, i) => [`graph-${i}`, spec]));
    const told = String(await started(graphs));
    for (const [i, spec] of specs.entries()) assert.ok(told.includes(`graph-${i}`), `${spec}: ${told}`);
    for (const spec of [
      'https://example.com/graph.js:graph',
      'file:///etc/passwd:graph',
      'data:,x:y',
      ':graph',
      '',
    ])
      assert.match(String(await started({ odd: spec })), /odd/, spec);
    assert.equal((globalThis as Record<string, unknown>)['loaded'], undefined);
  }));

function loadConfigOf(file: string, dir: string) {
  try {
    return loadConfig({ config: file, port: '0', data: join(dir, 'data') }, { PLATFORM_WORKERS: '0' }, dir);
  } catch (error) {
    return (error as Error).message;
  }
}

const KEYS = [
  ...["'", '"', "') OR 1=1 --", '$.a', 'a.b', '[0]', '', '\u2028', ':x', 'valueOf', 'e\u0301', '$eq'],
  "' UNION SELECT data FROM events --",
];

test('a search by keys like SQL finds its own rows only (CVE-2025-67644, GHSA-7p73-8jqx-23r8)', () =>
  withServer({}, async (s) => {
    const { thread_id: id } = (await s.request('POST', '/threads', {})).json;
    const all = Object.fromEntries(KEYS.map((key, i) => [key, i]));
    for (const metadata of [all, {}]) {
      const body = { assistant_id: 'echo', metadata };
      await s.request('POST', '/assistants', { graph_id: 'echo', metadata });
      await s.request('POST', `/threads/${id}/runs/wait`, { ...body, input: say('x') });
      await s.request('POST', '/runs/crons', { ...body, schedule: '0 0 1 1 *' });
      const key = metadata === all ? 'all' : 'none';
      const put = { namespace: ['n'], key, value: metadata };
      const kept = await s.request('PUT', '/store/items', put);
      assert.equal(kept.status, 204, kept.text);
    }
    const found = async (path: string, body: object): Promise<unknown> => {
      const { status, json, text } = await s.request('POST', path, body);
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}: ${text}`);
      return Array.isArray(json) ? json.length : (json.items?.length ?? json);
    };
    for (const [key, i] of Object.entries(all))
      for (const [value, count] of [
        [i, 1],
        [i + 1000, 0],
      ] as const) {
        const metadata = { [key]: value };
        if (/^\$[a-z]/i.test(key)) {
          // Such names are operators.
          const refused = await s.request('POST', '/assistants/search', { metadata });
          assert.equal(refused.status, 422, refused.text);
          continue;
        }
        for (const path of [
          '/assistants/search',
          '/assistants/count',
          '/runs/crons/search',
          '/runs/crons/count',
        ])
          assert.equal(await found(path, { metadata }), count, `${path} ${JSON.stringify(metadata)}`);
        const query = encodeURIComponent(JSON.stringify(metadata));
        const runs = await s.request('GET', `/threads/${id}/runs?metadata=${query}`);
        assert.equal(runs.json.length, count, `runs ${JSON.stringify(metadata)}`);
        if (key.startsWith('$')) continue;
        const items = await found('/store/items/search', { namespace_prefix: ['n'], filter: metadata });
        assert.equal(items, count, `items ${JSON.stringify(metadata)}`);
        const states = await found(`/threads/${id}/history`, { metadata });
        assert.equal(Number(states) > 0, count > 0, `history ${JSON.stringify(metadata)}`);
      }
  }));

test.run();
