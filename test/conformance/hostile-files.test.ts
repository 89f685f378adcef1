/** Files of strangers: each costs an error, and what is accepted can be shown. `HOSTILE_FILES` (300) is how many are made. */
import * as assert from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import { suite } from '../support/suite.ts';
import { createRandom, seedFromEnv } from '../support/random.ts';
import { hostileFile, toContent, toFile, toRecords, type RawRecord } from '../support/hostile-files.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: files of strangers', { timeoutMs: 900_000 });
const FILES = Number(process.env['HOSTILE_FILES'] ?? 300);
/** A message is for a person. */
const MAX_DETAIL = 700;

const upload = (s: TestServer, file: Uint8Array) =>
  s.request('POST', '/threads/import?new_id=true', file, { 'content-type': 'application/octet-stream' });

async function records(s: TestServer): Promise<RawRecord[]> {
  const threadId = await newThread(s, { metadata: { note: 'x' } });
  for (const graph of ['echo', 'survey']) await s.client.runs.wait(threadId, graph, { input: say('hello') });
  const reply = await fetch(`${s.url}/threads/${threadId}/export`);
  return toRecords(new Uint8Array(await reply.arrayBuffer()));
}

/** Reads all that clients can see of the thread, then deletes it. */
async function look(s: TestServer, threadId: string): Promise<string[]> {
  const path = `/threads/${threadId}`;
  const runs = (await s.request('GET', `${path}/runs`)).json as { run_id: string }[];
  const paths = [path, `${path}/state`, `${path}/state?subgraphs=true`, `${path}/history`, `${path}/export`];
  for (const { run_id } of runs)
    paths.push(...['', '/stream', '/report'].map((part) => `${path}/runs/${run_id}${part}`));
  const { last } = (await s.request('GET', `${path}/events` as never)).json as { last: number };
  for (const version of [Math.ceil(last / 2), last]) paths.push(`${path}/state?version=${version}&from=0`);
  const broken: string[] = [];
  for (const each of paths) {
    const { status, text } = await s.request('GET', each as never);
    if (status !== 200) broken.push(`GET ${each} ${status} ${text.slice(0, 200)}`);
  }
  assert.equal((await s.request('DELETE', path as never)).status, 204);
  return broken;
}

test(`${FILES} hostile files: each is refused with a reason, or imported and shown (L1, A3)`, () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const seed = seedFromEnv();
    const good = await records(s);
    const statuses: Record<number, number> = {};
    for (let number = 0; number < FILES; number++) {
      const { bytes, what } = hostileFile(createRandom(seed + number), good);
      const note = `SEED=${seed + number} HOSTILE_FILES=1: ${what}`;
      const { status, json, text } = await upload(s, bytes);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200) assert.deepEqual(await look(s, json.thread_id as string), [], note);
      else {
        assert.ok([409, 413, 422].includes(status), `${note}: ${status} ${text}`);
        assert.ok(json.detail.length < MAX_DETAIL, `${note}: ${json.detail}`);
      }
      assert.deepEqual(s.faults, [], note);
    }
    console.log(statuses);
    if (FILES >= 150) assert.ok(statuses[200]! > FILES / 20 && statuses[422]! > FILES / 3);
  }));

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** Values that no graph stores. */
const VALUES: readonly string[] = [
  ...['map', 'set', 'bigint', 'regexp', 'message', 'date', 'error', 'bytes', 'x'].map(
    (kind) => `[{"$":"${kind}","v":[5]}]`,
  ),
  ...[
    '{"$":"map"}',
    '{"$":"bigint","v":"x"}',
    '{"$":"regexp","v":"/(/"}',
    '{"$":5}',
    '5',
    'null',
    nested(799),
  ],
];

test('what is accepted can be shown: values of any form and depth', () =>
  withServer({ config: config('platform.states.json') }, async (s) => {
    const good = await records(s);
    for (const value of VALUES) {
      for (const kind of ['value', 'frame']) {
        // Given a file in which a value is anything
        const at = good.findLastIndex(({ head }) => head['kind'] === kind);
        if (at < 0) continue;
        const { splice: _, ...head } = good[at]!.head;
        const changed = good.with(at, { head, body: Buffer.from(value) });
        const note = `${kind} ${value.slice(0, 80)}`;
        // When it is imported, then all of it can be read
        const { status, json } = await upload(s, toFile(zstdCompressSync(toContent(changed))));
        if (status === 200) assert.deepEqual(await look(s, json.thread_id as string), [], note);
        else assert.equal(status, 422, note);
      }
    }
  }));

test.run();
