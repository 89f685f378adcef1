/** What is read back from the file is not to be trusted either: rows that somebody else wrote, or that were damaged. */
import * as assert from 'node:assert/strict';
import { join } from 'node:path';
import { Database } from '../../src/store/sqlite/library.ts';
import { LOG_FILE } from '../../src/store/sqlite/log.ts';
import { parseSecret } from '../../src/thread/secret.ts';
import { suite } from '../support/suite.ts';
import { withServer, type TestServer } from '../support/with-server.ts';
import { config, say } from './scene.ts';

const test = suite('conformance: hostile rows');

const AUTH = { config: config('platform.auth.json'), allowFaults: true };
const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
const CANARY = 'canary-in-a-row';

interface Place {
  readonly table: string;
  readonly column: string;
  readonly key: string;
  readonly id: string;
}

/** What alice has, and where it lies. */
async function setUp(s: TestServer) {
  const send = async (method: string, path: string, body?: object) =>
    (await s.request(method, path, body, as('alice'))).json;
  const { thread_id: thread } = await send('POST', '/threads', { metadata: { a: 1 } });
  const { run_id: run } = await send('POST', `/threads/${thread}/runs`, {
    assistant_id: 'echo',
    input: say('x'),
  });
  await send('GET', `/threads/${thread}/runs/${run}/join`);
  const { assistant_id: assistant } = await send('POST', '/assistants', { graph_id: 'echo' });
  const { cron_id: cron } = await send('POST', `/threads/${thread}/runs/crons`, {
    ...{ assistant_id: 'echo', schedule: '0 0 1 1 *' },
  });
  await send('PUT', '/store/items', { namespace: ['n'], key: 'k', value: { a: 1, owner: 'alice' } });
  return { thread, run, assistant, cron } as Record<'thread' | 'run' | 'assistant' | 'cron', string>;
}

/** The row holds `text` while `use` runs. */
async function withRow(
  s: TestServer,
  { table, column, key, id }: Place,
  text: string,
  use: () => Promise<void>,
): Promise<void> {
  const db = new Database(join(s.dir, 'data', LOG_FILE));
  const put = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`);
  const before = db.prepare(`SELECT ${column} FROM ${table} WHERE ${key} = ?`).pluck().get(id);
  try {
    assert.equal(put.run(text, id).changes, 1, `${table}.${column}`);
    await use();
  } finally {
    put.run(before, id);
    db.close();
  }
}

const itemOf = (s: TestServer): string => {
  const db = new Database(join(s.dir, 'data', LOG_FILE), { readonly: true });
  const id = db.prepare('SELECT item_id FROM items').pluck().get() as string;
  db.close();
  return id;
};

const creationOf = async (s: TestServer, run: string): Promise<string> =>
  String(
    (await s.events()).find(({ type, data }) => type === 'RunCreated' && data.runId === run)!.meta.position,
  );

test('A4 a row without JSON is a 500 that quotes none of it; others are served (CVE-2026-28277)', () =>
  withServer(AUTH, async (s) => {
    const { thread, run, assistant, cron } = await setUp(s);
    const { thread_id: other } = (await s.request('POST', '/threads', {}, as('bob'))).json;
    const own = `/threads/${thread}`;
    const rows: [Place, ...paths: string[]][] = [
      ...['metadata', 'interrupts'].map((column): [Place, ...string[]] => [
        { table: 'threads', column, key: 'thread_id', id: thread },
        ...[own, `${own}/state`, `${own}/runs`],
      ]),
      ...[
        ...['metadata', 'outcome'].map((column) => ({ table: 'runs', column, key: 'run_id', id: run })),
        { table: 'events', column: 'data', key: 'position', id: await creationOf(s, run) },
      ].map((place): [Place, ...string[]] => [
        place,
        ...[`${own}/runs/${run}`, `${own}/runs/${run}/join`, `${own}/runs/${run}/stream`],
      ]),
      ...['metadata', 'config', 'context'].map((column): [Place, ...string[]] => [
        { table: 'assistants', column, key: 'assistant_id', id: assistant },
        `/assistants/${assistant}`,
      ]),
      ...['metadata', 'payload'].map((column): [Place, ...string[]] => [
        { table: 'crons', column, key: 'cron_id', id: cron },
        `/runs/crons/${cron}`,
      ]),
      [
        { table: 'item_values', column: 'data', key: 'item_id', id: itemOf(s) },
        '/store/items?namespace=n&key=k',
      ],
    ];
    for (const [place, ...paths] of rows)
      await withRow(s, place, `{"${CANARY}`, async () => {
        for (const path of paths) {
          const told = s.faults.length;
          const { status, text } = await s.request('GET', path, undefined, as('alice'));
          const what = `${place.table}.${place.column}, ${path}`;
          assert.deepEqual([status, text], [500, '{"detail":"Internal server error"}'], what);
          const faults = s.faults.slice(told).map(String);
          assert.equal(faults.length, 1, what);
          assert.match(faults[0]!, /: (the database holds no JSON as the .+|malformed JSON)$/, what);
          assert.ok(!faults[0]!.includes(CANARY), faults[0]);
        }
        for (const path of [`/threads/${other}`, '/threads'])
          assert.equal((await s.request('GET', path, undefined, as('bob'))).status, 200, path);
      });
    for (const path of rows.flatMap(([, ...paths]) => paths))
      assert.equal((await s.request('GET', path, undefined, as('alice'))).status, 200, path);

    const [first] = (await s.events()).filter(({ data }) => 'threadId' in data && data.threadId === thread);
    assert.ok(first);
    const fact = { table: 'events', column: 'data', key: 'position', id: String(first.meta.position) };
    await withRow(s, fact, `{"${CANARY}`, async () => {
      await assert.rejects(s.server.log.readAll(first.meta.position - 1, 1), (error: Error) => {
        assert.match(error.message, new RegExp(`no JSON as the event at ${first.meta.position}$`));
        return !error.message.includes(CANARY);
      });
    });
    assert.throws(
      () => parseSecret(`{"user":"${CANARY}`),
      (error: Error) => /the secret of a run/.test(error.message) && !error.message.includes(CANARY),
    );
  }));

test('given rows in the form of serialised objects, when they are read, then they are data (CVE-2025-64439, CVE-2026-27794)', () =>
  withServer({ ...AUTH, env: { CANARY_OF_ENV: CANARY } }, async (s) => {
    const { thread } = await setUp(s);
    const forms = [
      '"lc":1,"type":"secret","id":["CANARY_OF_ENV"]',
      '"lc":1,"type":"constructor","id":["langchain","schema","HumanMessage"],"kwargs":{"content":"x"}',
      '"lc":2,"type":"constructor","id":["builtins","Set"],"method":"from","args":[["a"]]',
      '"__type":"Function","value":"process.exit()"',
      '"__proto__":{"polluted":true}',
      '"constructor":{"prototype":{"polluted":true}}',
      '"json":{"a":1},"meta":{"values":{"a":["Date"]}}',
    ];
    const places: [Place, string, (json: any) => object][] = [
      [
        { table: 'threads', column: 'metadata', key: 'thread_id', id: thread },
        ...([`/threads/${thread}`, (json: any) => json.metadata] as const),
      ],
      [
        { table: 'item_values', column: 'data', key: 'item_id', id: itemOf(s) },
        ...(['/store/items?namespace=n&key=k', (json: any) => json.value] as const),
      ],
    ];
    for (const form of forms)
      for (const [place, path, shown] of places) {
        const text = `{"owner":"alice",${form}}`;
        await withRow(s, place, text, async () => {
          const answer = await s.request('GET', path, undefined, as('alice'));
          assert.equal(answer.status, 200, answer.text);
          assert.equal(JSON.stringify(shown(answer.json)), text);
          assert.ok(!answer.text.includes(CANARY));
        });
      }
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.deepEqual(s.faults, []);
  }));

test.run();
