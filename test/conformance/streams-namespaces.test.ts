import * as assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread } from './scene.ts';
import { openStream, readFrames, streamRun, type Frame } from './stream-reader.ts';
import { withTcpProxy } from '../support/tcp-proxy.ts';

const test = suite('conformance: streams of single namespaces');
const NESTED = { config: config('platform.nested.json') };

const placeOf = ({ event }: Pick<Frame, 'event'>): string => event.split('|').slice(1).join('|');
const modeOf = ({ event }: Pick<Frame, 'event'>): string => event.split('|')[0]!;
const nodesOf = (place: string): string => place.replaceAll(/:[^|]*/g, '');

interface Streamed {
  readonly path: string;
  readonly all: readonly Frame[];
  /** The namespace of the graph at these nodes. */
  at(nodes: string): string;
  read(query: string, lastId?: string): Promise<Frame[]>;
  /** Frames of graphs at these nodes, and those that concern the whole run. */
  of(...nodes: string[]): Frame[];
}

async function streamed(s: TestServer, modes: readonly string[], graph = 'workshop'): Promise<Streamed> {
  const threadId = await newThread(s);
  const all = await streamRun(s, threadId, {
    ...{ assistant_id: graph, input: { task: 'go' }, stream_mode: modes, stream_subgraphs: true },
  });
  const [run] = await s.client.runs.list(threadId);
  const path = `${s.url}/threads/${threadId}/runs/${run!.run_id}/stream`;
  return {
    ...{ path, all },
    at: (nodes) => placeOf(all.find((frame) => nodesOf(placeOf(frame)) === nodes)!),
    read: (query, lastId) =>
      readFrames(`${path}${query}`, lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }),
    of: (...nodes) =>
      all.filter(
        (frame) =>
          ['metadata', 'error', 'lifecycle'].includes(modeOf(frame)) ||
          nodes.includes(nodesOf(placeOf(frame))),
      ),
  };
}

const asQuery = (...namespaces: string[]): string =>
  `?${namespaces.map((each) => `namespace=${encodeURIComponent(each)}`).join('&')}`;

for (const modes of [
  ['values', 'custom', 'updates'],
  ['values', 'custom', 'tasks', 'lifecycle'],
])
  test(`a namespace has its graph and graphs within but no subagent, in the modes ${modes.join(', ')}`, () =>
    withServer(NESTED, async (s) => {
      const run = await streamed(s, modes);
      const [team, leaf, tools] = ['team', 'team|leaf', 'tools'].map(run.at) as [string, string, string];
      for (const [namespaces, nodes] of [
        // The root without its subagent, and with it.
        [[''], ['', 'team', 'team|leaf']],
        [
          ['', tools],
          ['', 'team', 'team|leaf', 'tools'],
        ],
        [[tools], ['tools']],
        [[team], ['team', 'team|leaf']],
        [[leaf], ['team|leaf']],
        [
          [leaf, tools],
          ['team|leaf', 'tools'],
        ],
        [['unknown:1'], []],
        [['team'], []],
        [[`${team},${tools}`], []],
        [['|'], []],
      ] as [string[], string[]][]) {
        const frames = await run.read(asQuery(...namespaces));
        assert.deepEqual(frames, run.of(...nodes), namespaces.join(' and '));
      }
      assert.deepEqual(await run.read('?namespace='), run.of('', 'team', 'team|leaf'));
      const both = await run.read(`${asQuery('')}&stream_mode=custom`);
      const expected = run.of('', 'team', 'team|leaf').filter((f) => /^(metadata|custom)/.test(f.event));
      assert.deepEqual(both, expected);
    }));

test('resumed at any frame, with the filter or without, exactly the rest comes, also after a restart (S2)', () =>
  withServer(NESTED, async (s) => {
    const run = await streamed(s, ['values', 'custom', 'lifecycle'], 'office');
    const wanted = run.of('');
    assert.ok(wanted.length > 3 && wanted.length < run.all.length);
    for (const { id } of run.all) {
      const after = (frame: Frame): boolean => Number(frame.id) > Number(id);
      assert.deepEqual(await run.read('?namespace=', id), wanted.filter(after), id);
      assert.deepEqual(await run.read('', id), run.all.filter(after));
    }
    await s.restart();
    const path = run.path.replace(/^http:\/\/[^/]+/, s.url);
    const last = run.all.at(-4)!.id;
    const rest = await readFrames(`${path}?namespace=`, { headers: { 'last-event-id': last } });
    assert.deepEqual(
      rest,
      wanted.filter(({ id }) => Number(id) > Number(last)),
    );
  }));

test('a tool call that a node of another name carries out begins a subagent where that is told, else a graph', () =>
  withServer(NESTED, async (s) => {
    const told = await streamed(s, ['values', 'lifecycle'], 'office');
    assert.deepEqual(await told.read('?namespace='), told.of(''));
    assert.deepEqual(await told.read(asQuery(told.at('delegate'))), told.of('delegate'));
    const untold = await streamed(s, ['values'], 'office');
    assert.deepEqual(await untold.read('?namespace='), untold.all);
  }));

test('client.runs.stream, client.runs.joinStream: namespaces choose frames, live and late, whatever the client loses', () =>
  withServer(NESTED, (s) =>
    withTcpProxy(s.url, async (proxy) => {
      const { flags } = (await s.request('GET', '/info')).json;
      assert.equal(flags.stream_namespaces, true);
      const client = new Client({ apiUrl: proxy.url, callerOptions: { maxRetries: 0 } });
      const threadId = await newThread(s);
      const gate = join(s.dir, 'gate');
      const parts: unknown[] = [];
      let runId = '';
      for await (const { id, event, data } of client.runs.stream(threadId, 'workshop', {
        ...{ input: { task: 'wait' }, config: { configurable: { gate } } },
        ...{ streamMode: ['values', 'custom'], streamSubgraphs: true, streamNamespaces: [''] },
        onRunCreated: (run) => (runId = run.run_id),
      })) {
        parts.push({ event, data, id });
        if (!event.startsWith('custom|')) continue;
        proxy.cut();
        writeFileSync(gate, '');
      }
      assert.ok(proxy.connections >= 2);
      const all = await readFrames(`${s.url}/threads/${threadId}/runs/${runId}/stream`);
      const wanted = all.filter((frame) => !placeOf(frame).startsWith('tools:'));
      assert.ok(wanted.length < all.length);
      assert.deepEqual(parts, wanted);
      const tools = all.map(placeOf).find((place) => place.startsWith('tools:'))!;
      const joined: unknown[] = [];
      const options = { streamNamespaces: [tools] };
      for await (const { id, event, data } of client.runs.joinStream(threadId, runId, options))
        joined.push({ event, data, id });
      assert.deepEqual(joined, [all[0], ...all.filter((frame) => placeOf(frame) === tools)]);
    }),
  ));

test('stateless runs take namespaces too, and a query that is wrong creates no run', () =>
  withServer(NESTED, async (s) => {
    const body = {
      ...{ assistant_id: 'workshop', input: { task: 'go' }, stream_mode: 'custom', stream_subgraphs: true },
    };
    const frames = await readFrames(`${s.url}/runs/stream?namespace=`, { body });
    assert.deepEqual(
      frames.map((frame) => [modeOf(frame), nodesOf(placeOf(frame))]),
      [
        ['metadata', ''],
        ['custom', 'team|leaf'],
      ],
    );
    const threadId = await newThread(s);
    const many = asQuery(...Array.from({ length: 101 }, (_, index) => `n:${index}`));
    const { status, json } = await s.request('POST', `/threads/${threadId}/runs/stream${many}`, body);
    assert.deepEqual([status, json.detail], [422, 'namespace: expected namespaces, at most 100']);
    assert.deepEqual(await s.client.runs.list(threadId), []);
  }));

test('S3 a reader that takes nothing holds no frames of the graphs it did not name, and others go on', () =>
  withServer(NESTED, async (s) => {
    const { hostname, port } = new URL(s.url);
    const threadId = await newThread(s);
    const gate = join(s.dir, 'gate');
    const created = await s.request('POST', `/threads/${threadId}/runs`, {
      ...{ assistant_id: 'workshop', input: { task: 'wait' }, config: { configurable: { gate } } },
      ...{ stream_mode: ['values', 'custom', 'lifecycle'], stream_subgraphs: true },
    });
    const path = `/threads/${threadId}/runs/${created.json.run_id}/stream`;
    const slow = createConnection(Number(port), hostname);
    slow.pause();
    slow.write(`GET ${path}?namespace=&stream_end=true HTTP/1.1\r\nhost: x\r\n\r\n`);
    const live = await openStream(`${s.url}${path}?namespace=`);
    writeFileSync(gate, '');
    const frames = await live.rest();
    assert.ok(!frames.some((frame) => modeOf(frame) !== 'lifecycle' && /^tools:/.test(placeOf(frame))));
    let text = '';
    slow.on('data', (chunk) => (text += String(chunk)));
    slow.resume();
    while (!text.includes('event: end')) await new Promise((resolve) => slow.once('data', resolve));
    slow.destroy();
    const ids = [...text.matchAll(/^id: (\d+)/gm)].map((match) => match[1]);
    assert.deepEqual(
      ids,
      frames.map(({ id }) => id),
    );
  }));

test.run();
