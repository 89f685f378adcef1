/** Whole logs that are exported beside a running server and go on elsewhere. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLogExport, type ReadLogRecord } from '../../src/archive/read.ts';
import { createUnseal } from '../../src/archive/seal.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { storeAt } from '../../src/open-store.ts';
import { packKept } from '../../src/recording/kept-calls.ts';
import { runHere } from '../support/command-line.ts';
import { withPostgres } from '../support/postgres.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, ended, newThread, say, startGated } from './scene.ts';

const test = suite('conformance: whole logs that are carried');

const KEY = 'PLATFORM_ENCRYPTION_KEY';
const [ONE, OTHER] = ['1a', '2b'].map((byte) => byte.repeat(32)) as [string, string];
const dataOf = (s: TestServer): string => join(s.dir, 'data');

async function exportAll(s: TestServer, env = {}, ...more: string[]): Promise<string> {
  const file = join(s.dir, `${JSON.stringify(env)}.rewound`);
  await runHere(['export', '--all', '--data', dataOf(s), '-o', file, '--force', ...more], env);
  return file;
}

interface Told {
  readonly events: number;
  readonly streams: number;
  readonly problem: string | null;
}

/** In the place of the server's log. Resolves when a server uses it. */
async function importAll(s: TestServer, file: string, env = {}): Promise<Told> {
  await s.stop();
  rmSync(dataOf(s), { recursive: true, force: true });
  const { out } = await runHere(['import', file, '--data', dataOf(s), '--json'], env);
  return JSON.parse(out) as Told;
}

/** Without what differs between two exports: how contents are sealed, and which texts lean on each other. */
async function recordsOf(file: string, keys?: readonly string[]): Promise<unknown[]> {
  const unseal = keys && createUnseal(keys);
  const opened = ({ head, ...record }: ReadLogRecord): unknown => {
    const { splice: _, bytes: __, sealed, ...own } = head as Record<string, unknown>;
    if (!('content' in record) || typeof record.content === 'string') return { ...record, head: own };
    const content = sealed === true && unseal ? unseal(record.content) : record.content;
    return { ...record, head: own, content: Buffer.from(content).toString('latin1') };
  };
  const log = await openLogExport(file);
  const records: unknown[] = [];
  for await (const record of log.records()) if (record.kind !== 'header') records.push(opened(record));
  await log.close();
  return records;
}

const failureOf = (done: Promise<unknown>): Promise<Error & { exitCode?: number }> =>
  done.then(
    () => assert.fail('the command succeeded'),
    (error: Error) => error,
  );

const ALICE = { authorization: 'Bearer alice-token' };
const AUTH = config('platform.auth.json');

const post = async (s: TestServer, path: string, body: object, headers = {}) =>
  (await s.request('POST' as any, path as any, body as any, { ...ALICE, ...headers })).json;
const get = async (s: TestServer, path: string) =>
  (await s.request('GET', path as any, undefined, ALICE)).json;

const kindsOf = (records: readonly unknown[]): Set<string> =>
  new Set(records.map((each: any) => (each.kind === 'event' ? each.head.type : each.of)));

test('P2 a whole log arrives with all its kinds of content, under another key, and leaves again as it came', () =>
  withWebhookSink((sink) =>
    withServer({ config: AUTH, env: { [KEY]: ONE, PLATFORM_RECORDING: 'true' } }, async (s) => {
      // given threads with states, items, a cron with a secret, a webhook that is still owed, and a thread that is gone
      sink.otherwise((_, response) => response.writeHead(500).end());
      const { thread_id: thread } = await post(s, '/threads', { metadata: { note: 'über' } });
      for (const graph of ['agent', 'approve', 'steps', 'fails'])
        await post(s, `/threads/${thread}/runs/wait`, { assistant_id: graph, input: say('hello') });
      const webhook = sink.url('/');
      await post(s, `/threads/${thread}/runs/wait`, { assistant_id: 'echo', input: say('x'), webhook });
      await sink.next(1);
      await post(s, '/assistants', { graph_id: 'echo', name: 'mine' });
      await post(s, '/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', input: say('yearly') });
      await s.request(
        'PUT',
        '/store/items',
        { namespace: ['n'], key: 'k', value: { owner: 'alice' } },
        ALICE,
      );
      const { thread_id: gone } = await post(s, '/threads', {});
      await s.request('DELETE', `/threads/${gone}` as any, undefined, ALICE);
      const once = [
        `/threads/${thread}/runs`,
        { assistant_id: 'echo' },
        { 'idempotency-key': 'one' },
      ] as const;
      const { run_id: first } = await post(s, ...once);
      await s.until(ended(first));
      const paths = [`/threads/${thread}/state`, `/threads/${thread}/runs`, `/threads/${thread}`];
      const before = await Promise.all(paths.map((path) => get(s, path)));
      await s.stop();
      const file = await exportAll(s, { [KEY]: ONE });
      await withServer({ config: AUTH, env: { [KEY]: OTHER } }, async (other) => {
        // when it is imported
        const told = await importAll(other, file, { [KEY]: `${OTHER},${ONE}` });
        // then the new log verifies, and its export has the same records
        const records = await recordsOf(file, [ONE]);
        assert.deepEqual([told.problem, told.events > 30, told.streams > 10], [null, true, true]);
        assert.deepEqual(
          ['value', 'checkpoint', 'write', 'frame', 'calls', 'recording', 'receipt', 'request', 'cron-secret']
            .concat('body', 'item-value', 'ThreadDeleted', 'CronCreated', 'WebhookOwed', 'ItemPut')
            .filter((kind) => !kindsOf(records).has(kind)),
          [],
        );
        const again = await exportAll(other, { [KEY]: OTHER });
        assert.deepEqual(await recordsOf(again, [OTHER]), records);
        // and clients find what they had
        await other.restart();
        assert.deepEqual(await Promise.all(paths.map((path) => get(other, path))), before);
        assert.equal((await post(other, ...once)).run_id, first);
        await sink.next(2);
      });
    }),
  ));

test('X5 X7 A4 open runs of a whole log go on elsewhere, with their secrets and what they were answered', () =>
  withServer({ config: config('platform.store.json') }, async (s) => {
    await s.request('PUT', '/store/items', { namespace: ['n'], key: 'k', value: { text: 'one' } });
    await withServer({ config: AUTH }, async (open) => {
      // given a run that executes, one behind it, and one that begins in a year; none of them ends here
      const { thread_id: thread } = await post(open, '/threads', {});
      const gate = join(open.dir, 'gate');
      const body = { assistant_id: 'gate', input: say('gated'), config: { configurable: { gate } } };
      const { run_id: running } = await post(open, `/threads/${thread}/runs`, body);
      await open.until(({ type }) => type === 'CheckpointSaved');
      const queued = { assistant_id: 'sees', input: say('later'), multitask_strategy: 'enqueue' };
      const { run_id: waiting } = await post(open, `/threads/${thread}/runs`, queued);
      const { thread_id: late } = await post(open, '/threads', {});
      await post(open, `/threads/${late}/runs`, { assistant_id: 'echo', after_seconds: 31_536_000 });
      const place = { attempt: 1, charges: 0, ns: 'answered', names: '', asked: 1 };
      const data = packKept(place as never);
      const resume = { kind: 'resume', runId: running, threadId: thread, data } as const;
      await open.server.log.commit({ commandId: 'kept', appends: [], payloads: [resume] });
      // when the log is exported, then secrets and answers need a key or a word
      await assert.rejects(exportAll(open), /keep secrets, and there is no PLATFORM_ENCRYPTION_KEY/);
      const plain = await exportAll(open, {}, '--with-secrets');
      assert.ok(JSON.stringify(await recordsOf(plain)).includes('secret-of-alice'));
      const sealed = await exportAll(open, { [KEY]: ONE });
      assert.ok(!/secret-of-alice|answered/.test(JSON.stringify(await recordsOf(sealed))));
      assert.deepEqual(await recordsOf(sealed, [ONE]), await recordsOf(plain));
      await withServer({ config: AUTH }, async (other) => {
        await assert.rejects(
          importAll(other, sealed, { [KEY]: OTHER }),
          /sealed under a key that is not among/,
        );
        assert.equal((await importAll(other, plain)).problem, null);
        assert.deepEqual(
          await recordsOf(await exportAll(other, {}, '--with-secrets')),
          await recordsOf(plain),
        );
        // and they go on where they were
        await other.restart();
        await writeFile(gate, '');
        await other.until(ended(waiting));
        const runs = await get(other, `/threads/${thread}/runs`);
        assert.deepEqual(
          runs.map(({ run_id, status }: any) => [run_id, status]),
          [
            [waiting, 'success'],
            [running, 'success'],
          ],
        );
        const [{ status }] = await get(other, `/threads/${late}/runs`);
        assert.equal(status, 'pending');
        const { values } = await get(other, `/threads/${thread}/state`);
        const digest = createHash('sha256').update('"canary-secret-of-alice"').digest('hex');
        assert.deepEqual([values.identity, values.secret], ['alice', digest]);
      });
    });
    // The store's vectors, through a pipe.
    const { written } = await runHere(['export', '--all', '--data', dataOf(s)]);
    await withServer({ config: config('platform.store.json') }, async (other) => {
      await other.stop();
      rmSync(dataOf(other), { recursive: true });
      assert.match(
        (await runHere(['import', '--data', dataOf(other)], {}, written)).out,
        /^imported into \S+: \d+ events in \d+ streams$/,
      );
      await other.restart();
      const search = { namespace_prefix: ['n'], query: 'one' };
      assert.deepEqual(
        (await other.request('POST', '/store/items/search', search)).json,
        (await s.request('POST', '/store/items/search', search)).json,
      );
    });
  }));

test('P2 X5 a whole log moves into PostgreSQL, where its open run goes on, and back into a folder', () =>
  withPostgres((url) =>
    withServer({ config: config('platform.states.json') }, async (s) => {
      // given threads with runs of graphs, and one that executes
      const threadId = await newThread(s);
      for (const graph of ['agent', 'turns', 'delta', 'survey'])
        await s.client.runs.wait(threadId, graph, { input: say('hello') });
      const { runId, open } = await startGated(s, await newThread(s));
      const file = await exportAll(s);
      const records = await recordsOf(file);
      // when it is imported into a database, then nothing is imported there again
      const env = { PLATFORM_DATABASE_URL: `${url}?schema=moved&pool=4` };
      assert.equal((await runHere(['import', file], env)).code, 0);
      assert.equal((await failureOf(runHere(['import', file], env))).exitCode, 2);
      // then exports of the database, and of a folder into which that is imported, have the same records
      const [out, back] = [join(s.dir, 'out'), join(s.dir, 'back')];
      await runHere(['export', '--all', '-o', out], env);
      assert.deepEqual(await recordsOf(out), records);
      assert.equal((await runHere(['import', out, '--data', back])).code, 0);
      await runHere(['export', '--all', '-o', join(s.dir, 'again'), '--data', back]);
      assert.deepEqual(await recordsOf(join(s.dir, 'again')), records);
      // and a server goes on there, behind all positions
      open();
      await withServer({ config: config('platform.states.json'), env }, async (other) => {
        const { meta } = await other.until(ended(runId));
        const positions = records.map((each: any) => each.head.position ?? 0);
        assert.ok(meta.position > Math.max(...positions));
        assert.equal((await other.client.runs.get(meta.stream.slice(7), runId)).status, 'success');
      });
      assert.match((await runHere(['verify'], env)).out, /agrees\nnot checked: the files of the database/);
      // when an import ends before its end, then nothing opens the log until another one begins anew
      const half = { PLATFORM_DATABASE_URL: `${url}?schema=half` };
      const how = { clock: systemClock(), onFault: () => assert.fail() };
      const broken = await storeAt(half.PLATFORM_DATABASE_URL).openLogImport(how);
      await broken.log.close();
      await assert.rejects(runHere(['verify'], half), /an import of a whole log did not end/);
      assert.equal((await runHere(['import', file], half)).code, 0);
    }),
  ));

test('L1 a file that is cut, damaged or foreign, a log that is not new, and half an import are refused', () =>
  withServer({}, async (s) => {
    // given
    const threadId = await newThread(s);
    await s.client.runs.wait(threadId, 'echo', { input: say('hello') });
    const file = await exportAll(s);
    const good = await readFile(file);
    const thread = join(s.dir, 'thread');
    await runHere(['export', '--data', dataOf(s), '--thread', threadId, '-o', thread]);
    await s.stop();
    const data = join(s.dir, 'elsewhere');
    const importing = (path: string, ...more: string[]) =>
      failureOf(runHere(['import', path, '--data', data, ...more]));
    const flipped = Buffer.from(good);
    flipped[good.length >> 1]! ^= 1;
    // then each names its place and leaves nothing
    for (const [content, words] of [
      [good.subarray(0, -100), /cut off or damaged: its last line/],
      [flipped, /damaged: its SHA-256 is not the one/],
    ] as const) {
      await writeFile(join(s.dir, 'bad'), content);
      const { exitCode, message } = await importing(join(s.dir, 'bad'));
      assert.deepEqual([exitCode, words.test(message)], [3, true], message);
    }
    assert.deepEqual([(await importing(file, '--new-id')).exitCode, existsSync(data)], [2, false]);
    for (const command of ['open', 'show'])
      assert.match((await failureOf(runHere([command, file]))).message, /holds a log, expected a thread/);
    // then a log with events is refused, another thread is not
    await runHere(['import', thread, '--data', data]);
    const { exitCode, message } = await importing(file);
    assert.deepEqual(
      [exitCode, /has events; a whole log is imported into a new one/.test(message)],
      [2, true],
    );
    rmSync(data, { recursive: true });
    // when an import ends before its end
    const broken = await storeAt(data).openLogImport({ clock: systemClock(), onFault: () => assert.fail() });
    await broken.log.commit({
      commandId: 'a',
      appends: [],
      payloads: [],
      moved: { events: [], receipts: [] },
    });
    await broken.log.close();
    // then nothing opens the log, until another import begins anew
    for (const args of [['verify'], ['threads'], ['import', thread], ['backup', join(s.dir, 'copy')]])
      assert.match(
        (await failureOf(runHere([...args, '--data', data]))).message,
        /an import of a whole log did not end; import the file again/,
        args[0],
      );
    assert.equal((await runHere(['import', file, '--data', data])).code, 0);
    assert.equal((await runHere(['verify', '--data', data])).code, 0);
  }));

test.run();
