/** Threads that are exported and imported through the interface. */
import * as assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportedThread } from '../isolation/exported.ts';
import { runHere } from '../support/command-line.ts';
import { toRecords } from '../support/hostile-files.ts';
import { createRandom } from '../support/random.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';
import { withServer, type Answer, type TestServer } from '../support/with-server.ts';
import { config, MISSING, newThread, say, textsOf } from './scene.ts';

const test = suite('conformance: threads that are carried over HTTP');

const AUTH = { config: config('platform.auth.json') };
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });

async function download(
  s: TestServer,
  threadId: string,
  headers: Record<string, string> = {},
): Promise<Uint8Array> {
  const reply = await fetch(`${s.url}/threads/${threadId}/export`, { headers });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-disposition'), `attachment; filename="${threadId}.rewound"`);
  const bytes = new Uint8Array(await reply.arrayBuffer());
  assert.equal(reply.headers.get('content-length'), String(bytes.length));
  return bytes;
}

const upload = (
  s: TestServer,
  file: Uint8Array | string,
  headers: Record<string, string> = {},
  query = '',
): Promise<Answer> =>
  s.request('POST', `/threads/import${query}`, file, {
    'content-type': 'application/octet-stream',
    ...headers,
  });

const carriedFiles = (s: TestServer): string[] => {
  const folder = join(s.dir, 'data', 'carried');
  return existsSync(folder) ? readdirSync(folder) : [];
};

test('a downloaded thread is uploaded to another server and goes on there', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s, { metadata: { note: 1 } });
    await s.client.runs.wait(threadId, 'approve', { input: say('hello') });
    const file = await download(s, threadId);
    await withServer({}, async (other) => {
      const { status, json } = await upload(other, file);
      assert.deepEqual([status, json.thread_id, json.metadata.note], [200, threadId, 1]);
      assert.deepEqual(json, (await other.request('GET', `/threads/${threadId}`)).json);
      assert.deepEqual(
        await other.client.threads.getHistory(threadId),
        await s.client.threads.getHistory(threadId),
      );
      await other.client.runs.wait(threadId, 'approve', { command: { resume: 'yes' } });
      assert.equal((await other.client.threads.get(threadId)).status, 'idle');
      const again = await upload(other, file);
      assert.deepEqual([again.status, /new_id=true/.test(again.text)], [409, true]);
      const copy = await upload(other, file, {}, '?new_id=true');
      assert.notEqual(copy.json.thread_id, threadId);
      assert.equal(copy.json.status, 'interrupted');
      // The command sends it as well.
      await other.client.threads.delete(copy.json.thread_id);
      const path = join(s.dir, 'file');
      await writeFile(path, file);
      const sent = await runHere([
        'import',
        path,
        '--url',
        other.url,
        '--new-id',
        '--header',
        'x-test: 1',
        '--json',
      ]);
      const { thread_id } = JSON.parse(sent.out) as { thread_id: string };
      assert.deepEqual(textsOf((await other.client.threads.getState(thread_id)).values)[0], 'hello');
      assert.deepEqual(carriedFiles(other), []);
    });
    assert.deepEqual(carriedFiles(s), []);
  }));

/** Records without what an import adds: the time of the export, the import itself. */
const comparable = (file: Uint8Array): unknown[] =>
  toRecords(file).flatMap(({ head, body }) => {
    const { exportedAt: _, counts: __, ...kept } = head;
    if (kept['type'] === 'ThreadImported') return [];
    const data = kept['kind'] === 'event' ? JSON.parse(String(body)) : {};
    return [{ ...kept, ...data, ...(kept['kind'] !== 'event' && body && { body: String(body) }) }];
  });

test('A4 an export of an imported thread is as whole as the first, and has no lease', () =>
  withServer({}, async (s) => {
    // Given a thread whose assistant had two versions, on a server that then changes it again
    const threadId = await newThread(s, { metadata: { note: 1 } });
    const { assistant_id } = await s.client.assistants.create({ graphId: 'echo', config: { tags: ['one'] } });
    await s.client.runs.wait(threadId, assistant_id, { input: say('hello') });
    await s.client.assistants.update(assistant_id, { config: { tags: ['two'] } });
    await s.client.runs.wait(threadId, assistant_id, { input: say('again') });
    await s.client.runs.wait(threadId, 'echo', { input: say('more') });
    const first = await download(s, threadId);
    await withServer({}, async (other) => {
      const system = (await other.client.assistants.search({ graphId: 'echo' }))[0]!;
      await other.client.assistants.update(system.assistant_id, { config: { tags: ['of another server'] } });
      // When it is imported elsewhere and exported from there, twice
      await upload(other, first);
      const second = await download(other, threadId);
      await s.client.threads.delete(threadId);
      await upload(s, second);
      const third = await download(s, threadId);
      // Then nothing is missing, and nothing tells of a lease
      const whole = comparable(first);
      assert.deepEqual(comparable(second), whole);
      assert.deepEqual(comparable(third), whole);
      const [header] = toRecords(third);
      const used = header!.head['assistants'] as { versions: { config: { tags?: string[] } }[] }[];
      assert.deepEqual(
        used.map(({ versions }) => versions.map(({ config: { tags } }) => tags?.[0])),
        [['one', 'two'], [undefined]],
      );
      assert.ok(!toRecords(first).some(({ body }) => String(body).includes('leaseId')));
    });
  }));

test('one user never takes the places of all, and a download that is spooled takes none (A3)', () =>
  withServer(AUTH, async (s) => {
    // Given a user with a large thread who begins more uploads than she has places for, and ends none
    const note = Buffer.from(createRandom(1).bytes(3_000_000)).toString('base64');
    const threadId = '00000000-0000-4000-8000-00000000000a';
    assert.equal((await upload(s, exportedThread(threadId, { note }), as('alice'))).status, 200);
    const bodies: WritableStreamDefaultWriter[] = [];
    const begin = (name: string): Promise<number> => {
      const body = new TransformStream();
      const writer = body.writable.getWriter();
      void writer.write(new Uint8Array(1)).catch(() => undefined);
      bodies.push(writer);
      return fetch(`${s.url}/threads/import`, {
        ...{ method: 'POST', headers: as(name), body: body.readable, duplex: 'half' },
      } as RequestInit).then(
        ({ status }) => status,
        () => 0,
      );
    };
    const waiting = [1, 2, 3, 4].map(() => begin('alice'));
    await until('the uploads have begun', async () => carriedFiles(s).length === 4);
    // When she and another user ask for more
    const [hers, his] = [await begin('alice'), await upload(s, exportedThread(MISSING, {}), as('bob'))];
    // Then she has to wait, and the other one has not
    assert.deepEqual([hers, his.status], [503, 200]);
    for (const body of bodies) await body.close().catch(() => undefined);
    assert.deepEqual(await Promise.all(waiting), [422, 422, 422, 422]);
    // When she downloads slowly, then her downloads take no places once they are spooled
    const slow = new AbortController();
    for (let count = 0; count < 6; count++) {
      const { status } = await fetch(`${s.url}/threads/${threadId}/export`, {
        headers: as('alice'),
        signal: slow.signal,
      });
      assert.equal(status, 200);
    }
    slow.abort();
    await until('the files go', async () => carriedFiles(s).length === 0);
  }));

test('A2 A3 whoever uploads a thread owns it, by the handlers that decide about new threads', () =>
  withServer(AUTH, async (s) => {
    const made = await s.request('POST', '/threads', { metadata: { note: 'hers' } }, as('alice'));
    const { thread_id: threadId } = made.json as { thread_id: string };
    const file = await download(s, threadId, as('alice'));
    const hidden = await s.request('GET', `/threads/${threadId}/export`, undefined, as('bob'));
    assert.deepEqual([hidden.status, hidden.text.includes('not found')], [404, true]);
    // Alice's own id and one that bob has taken himself are refused alike.
    const his = (await s.request('POST', '/threads', {}, as('bob'))).json.thread_id as string;
    const [hers, own] = [
      await upload(s, file, as('bob')),
      await upload(s, exportedThread(his, {}), as('bob')),
    ];
    assert.deepEqual([hers.status, hers.text], [own.status, own.text]);
    assert.equal(hers.status, 409);
    const copy = await upload(s, file, as('bob'), '?new_id=true');
    assert.deepEqual([copy.status, copy.json.metadata.owner, copy.json.metadata.note], [200, 'bob', 'hers']);
    const path = `/threads/${copy.json.thread_id}`;
    assert.equal((await s.request('GET', path, undefined, as('bob'))).status, 200);
    assert.equal((await s.request('GET', path, undefined, as('alice'))).status, 404);
    assert.equal((await upload(s, file)).status, 401);
  }));

test('L1 bodies that are no exported thread are refused with a reason, and nothing is written or left', () =>
  withServer({}, async (s) => {
    const threadId = await newThread(s);
    const good = await download(s, threadId);
    await s.client.threads.delete(threadId);
    const before = (await s.events()).length;
    const cases: [Uint8Array | string, RegExp][] = [
      ['', /body is not an exported thread/],
      ['{}', /body is not an exported thread or log: its first line is not/],
      [good.subarray(0, -1), /body is cut off or damaged/],
      [Uint8Array.from(good, (byte, at) => (at === 60 ? byte ^ 4 : byte)), /body is damaged/],
      [exportedThread('not-an-id', {}), /thread.id: expected a UUID/],
    ];
    for (const [body, reason] of cases) {
      const { status, json } = await upload(s, body);
      assert.equal(status, 422, json?.detail);
      assert.match(json.detail, reason);
    }
    assert.equal((await upload(s, good, { 'content-encoding': 'gzip' })).status, 415);
    assert.equal((await upload(s, good, {}, '?new_id=maybe')).status, 422);
    assert.equal((await s.events()).length, before);
    assert.deepEqual(carriedFiles(s), []);
  }));

test('S3 downloads that clients break off leave no file, and keep nobody else from downloading', () =>
  withServer({}, async (s) => {
    const note = Buffer.from(createRandom(1).bytes(3_000_000)).toString('base64');
    const threadId = '00000000-0000-4000-8000-00000000000a';
    assert.equal((await upload(s, exportedThread(threadId, { note }))).status, 200);
    for (let left = 6; left > 0; left--) {
      const client = new AbortController();
      const { signal } = client;
      const reply = await fetch(`${s.url}/threads/${threadId}/export`, { signal });
      assert.equal(reply.status, 200);
      client.abort();
      await until('the file goes', async () => carriedFiles(s).length === 0);
    }
    await Promise.all([1, 2, 3, 4].map(() => download(s, threadId)));
    await until('the files go', async () => carriedFiles(s).length === 0);
  }));

test('files beyond the limit of JSON bodies pass, also through an own app', () =>
  withServer({ config: config('platform.app.json'), env: { PLATFORM_MAX_BODY_BYTES: '2000' } }, async (s) => {
    const note = Buffer.from(createRandom(1).bytes(9_000)).toString('base64');
    const file = exportedThread('00000000-0000-4000-8000-00000000000a', { note });
    assert.ok(file.length > 3_000);
    const { status, json } = await upload(s, file);
    assert.deepEqual([status, json.metadata.note], [200, note]);
  }));

test.run();
