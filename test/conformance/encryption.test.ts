import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../../src/serve.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { Database } from '../../src/store/sqlite/library.ts';
import { runHere } from '../support/command-line.ts';
import { placesOf } from '../support/stored.ts';
import { suite } from '../support/suite.ts';
import { withWebhookSink } from '../support/webhook-sink.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, newThread, say } from './scene.ts';

const test = suite('conformance: encryption at rest');

const [OLD, NEW, OTHER] = ['1a', '2b', '3c'].map((byte) => byte.repeat(32)) as [string, string, string];
const NEW_IN_BASE64 = Buffer.from(NEW, 'hex').toString('base64');
const KEY = 'PLATFORM_ENCRYPTION_KEY';

const ALICE = { authorization: 'Bearer alice-token' };

/** Leaves texts in every place that keeps content, in short and long ones, and returns them. */
async function sayEverywhere(s: TestServer, hook: string): Promise<{ thread: string; said: string[] }> {
  const post = async (path: string, body: object) =>
    (await s.request('POST' as any, path as any, body as any, ALICE)).json;
  const { thread_id: thread } = await post('/threads', { metadata: { note: 'plain-metadata' } });
  const long = (text: string): string => `${text} ${'and so on '.repeat(300)}`;
  for (const graph of ['agent', 'agent', 'echo', 'approve'])
    await post(`/threads/${thread}/runs/wait`, { assistant_id: graph, input: say(long('canary-input')) });
  await post(`/threads/${thread}/runs/wait`, {
    assistant_id: 'sees',
    input: say('canary-small'),
    config: { configurable: { note: 'canary-config' } },
    context: { note: 'canary-context' },
    webhook: hook,
  });
  await post(`/threads/${thread}/runs/wait`, { assistant_id: 'fails', input: say('canary-failing') });
  await post(`/threads/${thread}/state`, { values: say('canary-state') });
  await s.request(
    'PUT',
    '/store/items',
    { namespace: ['n'], key: 'k', value: { note: 'canary-item', owner: 'alice' } },
    ALICE,
  );
  await post('/assistants', { graph_id: 'echo', context: { note: 'canary-assistant' } });
  await post('/runs/crons', { assistant_id: 'echo', schedule: '0 0 1 1 *', input: say('canary-cron') });
  // The cron keeps the secret of its maker.
  const places = [
    'input',
    'small',
    'config',
    'context',
    'failing',
    'state',
    'item',
    'assistant',
    'cron',
    'hook',
  ];
  return { thread, said: [...places, 'secret-of-alice'].map((what) => `canary-${what}`) };
}

test('content of runs, items, assistants, crons and webhooks stands in no file of an encrypted log (A4)', () =>
  withWebhookSink((sink) =>
    withServer(
      { config: config('platform.auth.json'), env: { [KEY]: NEW_IN_BASE64, PLATFORM_RECORDING: 'true' } },
      async (s) => {
        // given a receiver that refuses, so that the body and what it answered stay
        sink.otherwise((_, response) => response.writeHead(500).end('canary-answer'));
        const { thread, said } = await sayEverywhere(s, sink.url('/canary-hook'));
        await sink.next(1);
        // then neither the living server's files nor those of a stopped one have any of it
        assert.deepEqual(await placesOf(s, ...said, 'canary-answer'), []);
        assert.ok((await placesOf(s, 'plain-metadata')).length > 0);
        const state = (await s.request('GET', `/threads/${thread}/state`, undefined, ALICE)).json;
        await s.restart();
        assert.deepEqual(await placesOf(s, ...said, 'canary-answer'), []);
        // and everything reads as it was
        assert.deepEqual((await s.request('GET', `/threads/${thread}/state`, undefined, ALICE)).json, state);
        const items = await s.request(
          'POST',
          '/store/items/search',
          { namespace_prefix: ['n'], filter: { note: 'canary-item' } },
          ALICE,
        );
        assert.equal((items.json as any).items.length, 1);
        const copied = (await s.request('POST', `/threads/${thread}/copy`, undefined, ALICE)).json as any;
        const ofCopy = await s.request('GET', `/threads/${copied.thread_id}/state`, undefined, ALICE);
        assert.deepEqual((ofCopy.json as any).values, (state as any).values);
        assert.equal((await s.request('DELETE', `/threads/${thread}`, undefined, ALICE)).status, 204);
        assert.deepEqual(await placesOf(s, ...said), []);
      },
    ),
  ));

test('a log whose key is missing or wrong is refused in one line that names the variable', () =>
  withServer({ env: { [KEY]: OLD } }, async (s) => {
    // given
    await newThread(s);
    await s.stop();
    // when and then
    const data = join(s.dir, 'data');
    for (const [keys, line] of [
      [[], /^\S+log\.db is encrypted and PLATFORM_ENCRYPTION_KEY is not set; [^\n]+$/],
      [[OTHER], /^\S+log\.db has content under a key that PLATFORM_ENCRYPTION_KEY does not have [^\n]+$/],
    ] as const)
      await assert.rejects(
        startServer({ ...s.config, encryptionKeys: keys }, { onFault: assert.fail, onPoisoned: assert.fail }),
        { message: line },
      );
    for (const command of ['verify', 'replay'])
      await assert.rejects(runHere([command, '--data', data]), /PLATFORM_ENCRYPTION_KEY is not set/);
    await assert.rejects(runHere(['verify', '--data', data], { [KEY]: 'short' }), {
      message: /^PLATFORM_ENCRYPTION_KEY: expected keys of 32 bytes in base64 or hexadecimal/,
    });
    assert.equal((await runHere(['verify', '--data', data], { [KEY]: `${OTHER}, ${OLD}` })).code, 0);
  }));

test('rekey encrypts a plain log and then a rotated one, after which the earlier key is not needed', () =>
  withWebhookSink((sink) =>
    withServer({ config: config('platform.auth.json') }, async (s) => {
      // given a plain log
      sink.otherwise((_, response) => response.writeHead(500).end());
      const { thread, said } = await sayEverywhere(s, sink.url('/canary-hook'));
      await sink.next(1);
      const state = (await s.request('GET', `/threads/${thread}/state`, undefined, ALICE)).json;
      const data = join(s.dir, 'data');
      const rekey = (...keys: string[]) => runHere(['rekey', '--data', data], { [KEY]: keys.join() });
      await assert.rejects(rekey(OLD), /in use|uses/);
      await s.stop();
      for (const text of said) assert.ok((await placesOf(s, text)).length > 0, text);
      await assert.rejects(runHere(['rekey', '--data', data]), /PLATFORM_ENCRYPTION_KEY is not set/);
      // when it is encrypted, and again under another key
      const first = await rekey(OLD);
      assert.match(first.out, /^encrypted [1-9]\d* rows/);
      assert.deepEqual(await placesOf(s, ...said), []);
      await assert.rejects(rekey(NEW), /add that key to it/);
      assert.equal((await rekey(NEW, OLD)).out, first.out);
      assert.match((await rekey(NEW)).out, /^encrypted 0 rows/);
      // then the new key is enough
      assert.equal((await runHere(['verify', '--data', data], { [KEY]: NEW })).code, 0);
      await s.restart({ encryptionKeys: [NEW] });
      assert.deepEqual((await s.request('GET', `/threads/${thread}/state`, undefined, ALICE)).json, state);
      await s.restart({ encryptionKeys: [NEW] });
    }),
  ));

test('a flipped bit in each kind of content is named with its thread, and no backup is made (P3)', () =>
  withWebhookSink((sink) =>
    withServer(
      { config: config('platform.auth.json'), env: { [KEY]: OLD, PLATFORM_RECORDING: 'true' } },
      async (s) => {
        // given
        sink.otherwise((_, response) => response.writeHead(500).end());
        const { thread } = await sayEverywhere(s, sink.url('/canary-hook'));
        await sink.next(1);
        await s.stop();
        for (const [table, kind, name] of [
          ['texts', 'v', `thread ${thread}: value of channel `],
          ['texts', 'w', `thread ${thread}: writes on checkpoint `],
          ['texts', 'c', `thread ${thread}: checkpoint `],
          ['frames', undefined, `thread ${thread}: frames `],
          ['bodies', undefined, `thread ${thread}: body of webhook `],
          ['item_values', undefined, 'item '],
          ['run_contents', 'recording', `thread ${thread}: part `],
          ['run_contents', 'calls', `thread ${thread}: prints and calls of run `],
        ] as const) {
          const damaged = join(s.dir, `${table}-${kind}`);
          cpSync(join(s.dir, 'data'), damaged, { recursive: true });
          // when one bit of the longest row flips
          flip(join(damaged, LOG_FILE), table, kind);
          // then
          const verified = await runHere(['verify', '--data', damaged], { [KEY]: OLD });
          assert.equal(verified.code, 1, name);
          assert.ok(verified.out.includes(`position none: ${name}`), `${table}: ${verified.out}`);
          assert.match(verified.out, /its checksum is not that of its content$/);
          const backup = join(s.dir, `${table}.backup`);
          await assert.rejects(
            runHere(['backup', backup, '--data', damaged]),
            /nothing was written: .*checksum/,
          );
          await assert.rejects(runHere(['rekey', '--data', damaged], { [KEY]: `${NEW},${OLD}` }), /checksum/);
        }
        assert.equal(readdirSync(s.dir).filter((file) => file.includes('.backup')).length, 0);
      },
    ),
  ));

/** Flips the lowest bit of the last byte of a row's content, in the database as SQLite keeps it. */
function flip(file: string, table: string, kind: string | undefined): void {
  const db = new Database(file);
  const bytes = db
    .prepare(
      `SELECT CAST(data AS BLOB) FROM ${table} ${kind === undefined ? '' : `WHERE kind = '${kind}'`}
       ORDER BY octet_length(data) DESC LIMIT 1`,
    )
    .pluck()
    .get() as Buffer;
  const changed = Buffer.from(bytes);
  changed[changed.length - 1]! ^= 1;
  const { changes } = db
    .prepare(`UPDATE ${table} SET data = ? WHERE CAST(data AS BLOB) = ?`)
    .run(changed, bytes);
  db.close();
  assert.ok(changes > 0, `${table} has no row`);
}

test.run();
