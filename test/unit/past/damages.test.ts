/** One list of damages on both engines: the verification names each of them, in the same words. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createCrons } from '../../../src/actors/crons.ts';
import { createItems } from '../../../src/actors/items.ts';
import { createThreads, type DispatchOptions } from '../../../src/actors/threads.ts';
import { verify } from '../../../src/past/verify/verify.ts';
import { KINDS, type Kind } from '../../../src/store/port/kinds.ts';
import type { EventLog } from '../../../src/store/port/log.ts';
import type { Finding, History } from '../../../src/store/port/past.ts';
import type { CheckpointText, PayloadWrite } from '../../../src/store/port/payloads.ts';
import { readAddress } from '../../../src/kernel/database-address.ts';
import { readingOf, viewHistory } from '../../../src/store/postgres/history.ts';
import { connect } from '../../../src/store/postgres/sessions.ts';
import { PLAIN } from '../../../src/store/sql/coder.ts';
import { projection } from '../../../src/store/sql/rows/projection.ts';
import { SCHEMA } from '../../../src/store/sql/rows/tables.ts';
import { openConnection } from '../../../src/store/sqlite/connection.ts';
import * as sqlite from '../../../src/store/sqlite/history.ts';
import { LOG_FILE, openSqliteLog } from '../../../src/store/sqlite/log.ts';
import type { ThreadCommand } from '../../../src/thread/decide.ts';
import { batch, committed } from '../../support/batches.ts';
import { ask } from '../../support/given.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openTestPostgres, withPostgres } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import { suite } from '../../support/suite.ts';
import { withTempDir } from '../../support/temp-dir.ts';
import { seededIds } from '../../support/with-log.ts';

const test = suite('past, damages on both engines');

const id = (last: number): string => `01980000-0000-7000-8000-${String(last).padStart(12, '0')}`;
const [BUSY, WAITING, PRUNED, COPY, GONE, CRON] = [1, 2, 3, 4, 5, 6].map(id) as [string, ...string[]] as [
  ...[string, string, string, string, string, string],
];
/** More than one page of any check, and a row that is longer than those of a page. */
const MANY = 600;
const LONG = 'long'.repeat(5_000);

const checkpoint = (checkpointId: string, messages: string): CheckpointText => ({
  ...{ ns: '', checkpointId, parentId: null, body: '{}', metadata: {}, valueChannels: ['messages'] },
  channelVersions: { messages: checkpointId },
  blobs: [{ channel: 'messages', version: checkpointId, data: JSON.stringify(messages) }],
});

/** Writes something of every kind. */
async function fill(log: EventLog, clock: ReturnType<typeof createManualClock>): Promise<void> {
  const ids = seededIds(clock, createRandom(1));
  const threads = createThreads({ log, clock, ids, webhooks: { enabled: true, render: () => '"told"' } });
  const done = async (threadId: string, commands: ThreadCommand[], options?: DispatchOptions) => {
    await clock.advance(1_000);
    const result = await threads.dispatch(threadId, commands, options);
    assert.ok(result.ok, JSON.stringify(result));
  };
  const created = (threadId: string): ThreadCommand => ask.createThread({ topic: threadId }, threadId);
  const saved = (threadId: string, runId: string, checkpointId: string): PayloadWrite => ({
    ...{ kind: 'checkpoint', threadId, runId, checkpoint: checkpoint(checkpointId, LONG + checkpointId) },
  });
  const of = (runId: string) => ({ runId, threadId: BUSY });
  const kwargs = {
    ...{ input: { q: 1 }, config: {}, streamMode: [], streamSubgraphs: false },
    webhook: 'https://example.com/hook',
  };
  await done(BUSY, [created(BUSY), ask.createRun('a', 'enqueue', { kwargs, metadata: { m: 1 } })]);
  await done(BUSY, [ask.start('a')]);
  const frames = [0, 1].map((n) => ({ event: 'values', data: `${LONG}${n}`, state: 'whole' as const }));
  await done(BUSY, [ask.save('a', 'c1')], { payloads: [saved(BUSY, 'a', 'c1')] });
  await done(BUSY, [ask.save('a', 'c2')], {
    payloads: [
      saved(BUSY, 'a', 'c2'),
      { kind: 'frames', ...of('a'), first: 0, frames },
      { kind: 'untracked-values', ...of('a'), data: '{"u":1}' },
      { kind: 'calls', ...of('a'), data: JSON.stringify([LONG]) },
      { kind: 'recording', ...of('a'), data: Buffer.from([0, 1, 2]) },
      {
        ...{ kind: 'checkpoint-writes', ...of('a'), ns: '', checkpointId: 'c2' },
        writes: [{ taskId: 't', idx: 0, channel: 'messages', data: '1' }],
      },
    ],
  });
  await done(BUSY, [ask.complete('a')]);
  await done(BUSY, [ask.updateState('update', 'c3')], { payloads: [saved(BUSY, 'update', 'c3')] });
  await done(COPY, [{ ...ask.copyThread(BUSY, COPY), head: 'c3' } as ThreadCommand]);
  await done(BUSY, [ask.createRun('b'), ask.start('b', 'lease-b'), ask.createRun('later')], {
    payloads: [
      { kind: 'secret', ...of('b'), data: 'canary' },
      { kind: 'resume', ...of('b'), data: Buffer.from([3, 4]) },
    ],
  });
  await done(WAITING, [created(WAITING), ask.createRun('w')]);
  await done(PRUNED, [created(PRUNED), ask.createRun('p'), ask.start('p')]);
  for (const name of ['p1', 'p2'])
    await done(PRUNED, [ask.save('p', name)], { payloads: [saved(PRUNED, 'p', name)] });
  await done(PRUNED, [ask.complete('p')]);
  const kept = [{ ns: '', checkpointId: 'p2' }];
  await done(PRUNED, [{ type: 'PruneThread', kept }]);
  await done(GONE, [created(GONE), ask.deleteThread()]);
  const crons = createCrons({ log, clock, ids, catchUp: { mode: 'one', limit: 100 } });
  const content = {
    ...{ assistantId: 'a', threadId: WAITING, schedule: '* * * * *', timezone: null, endTime: null },
    ...{ enabled: true, onRunCompleted: null, userId: null, payload: {}, metadata: {} },
  };
  const payloads = [{ kind: 'cron-secret', cronId: CRON, data: 'canary' }] as const;
  await crons.dispatch(CRON, { type: 'CreateCron', cronId: CRON, content }, { payloads });
  await clock.advance(60_000);
  await crons.fire(CRON, async ({ runId, threadId, slotFact }) => {
    await done(threadId, [ask.createRun(runId)], { extraAppends: [slotFact] });
    return { kind: 'started' };
  });
  const vectors = Array.from({ length: MANY }, (_, index) => Buffer.from([index % 256]).toString('base64'));
  await createItems({ log, clock, ids }).write([
    { kind: 'put', namespace: ['n'], key: 'k', value: '{"v":1}', ttl: null, vectors },
  ]);
  const assistant = { assistantId: 'mine', system: false, graphId: 'graph', name: 'mine', description: null };
  const event = { ...assistant, config: {}, context: {}, metadata: {} };
  committed(
    await log.commit(
      batch([{ stream: 'assistant-mine', expected: 0, events: [{ type: 'AssistantCreated', data: event }] }]),
    ),
  );
}

interface Damage {
  /** Statements that both engines take. */
  readonly sql: readonly string[];
  readonly problem: RegExp;
  /** Whether an event is named. */
  readonly isPlaced: boolean;
}

const damage = (problem: RegExp, isPlaced: boolean, ...sql: string[]): Damage => ({ sql, problem, isPlaced });

/** A row whose bytes changed, of each kind of content. */
const CHANGED: readonly Damage[] = ['event', ...Object.values<Kind>(KINDS)].map((kind) => {
  const [table, own, title] =
    typeof kind === 'string' ? ['events', {}, /^stream \S+: event/] : [kind.table, kind.rows ?? {}, /\w/];
  const rows = Object.entries(own).map(([column, value]) => `AND ${column} = '${value}'`);
  return damage(
    new RegExp(`${title.source}.*: its checksum is not that of its content`),
    table === 'events',
    `UPDATE ${table} SET crc = crc - 1 WHERE 1 = 1 ${rows.join(' ')}`,
  );
});

const DAMAGES: readonly Damage[] = [
  ...CHANGED,
  ...Object.keys(SCHEMA).map((table) =>
    damage(new RegExp(`^${table} .+ differs: live null`), true, `DELETE FROM ${table}`),
  ),
  damage(/^threads .* differs: live .*busier/, true, `UPDATE threads SET status = 'busier'`),
  damage(/^threads .* differs/, true, `UPDATE threads SET metadata = '{}'`),
  damage(/^runs a differs/, true, `UPDATE runs SET updated_at = updated_at + 1 WHERE run_id = 'a'`),
  damage(
    /^items x differs: .*rebuilt null/,
    false,
    `INSERT INTO items (item_id, namespace, key, path, reversed, created_at, updated_at) VALUES ('x', '', '', '', '', 1, 1)`,
  ),
  damage(
    /goes from version 2 to 4/,
    true,
    `DELETE FROM events WHERE stream = 'thread-${BUSY}' AND version = 3`,
  ),
  damage(/RunPaused is unknown/, true, `UPDATE events SET type = 'RunPaused' WHERE type = 'RunStarted'`),
  damage(/cannot be read/, true, `UPDATE events SET data = '{' WHERE type = 'RunStarted'`),
  damage(/the snapshot differs from the fold/, true, `UPDATE snapshots SET state = '{}'`),
  damage(/x: its snapshot outlived/, false, `INSERT INTO snapshots VALUES ('x', 1, '{}')`),
  damage(/^run a: its frames have a gap/, false, 'DELETE FROM frames WHERE first = 0'),
  damage(
    /text in row \d+ of frames has a delta base that is gone/,
    false,
    `UPDATE frames SET bases = '[777777]', size = 1 WHERE first = 0`,
  ),
  damage(
    /text in row \d+ of texts has a delta base that is gone/,
    false,
    `UPDATE texts SET bases = '[777777]', size = 1 WHERE kind = 'v'`,
  ),
  ...[
    ['c1', / is missing/, true] as const,
    ['c3', /of an update is missing/, true] as const,
    ['p2', /which a pruning left, is missing/, true] as const,
  ].map(([name, problem, isPlaced]) =>
    damage(
      problem,
      isPlaced,
      `UPDATE texts SET name = 'other' WHERE kind = 'c' AND name = '${name}'
      AND thread = (SELECT min(thread) FROM texts AS own WHERE own.kind = 'c' AND own.name = '${name}')`,
    ),
  ),
  damage(
    new RegExp(`thread ${COPY}: its head checkpoint c3 is missing`),
    false,
    `UPDATE texts SET name = 'other' WHERE kind = 'c' AND name = 'c3'
       AND thread = (SELECT max(thread) FROM texts AS own WHERE own.kind = 'c' AND own.name = 'c3')`,
  ),
  damage(/thread x: its row in the queue/, false, `INSERT INTO queue (thread_id, due_at) VALUES ('x', 1)`),
  damage(/its row in the queue/, false, 'DELETE FROM queue WHERE due_at IS NOT NULL'),
  damage(/its row in the queue/, false, 'DELETE FROM queue WHERE due_at IS NULL'),
  damage(/its row in the queue/, false, 'UPDATE queue SET due_at = 1'),
  damage(/its row in the queue/, false, 'UPDATE queue SET due_at = NULL'),
  damage(
    /^run \S+: its cron fired without it/,
    true,
    ...['events', 'snapshots'].map((table) => `DELETE FROM ${table} WHERE stream = 'thread-${WAITING}'`),
    ...['runs', 'threads', 'queue'].map((table) => `DELETE FROM ${table} WHERE thread_id = '${WAITING}'`),
  ),
  damage(/run x: a secret outlived it/, false, `INSERT INTO secrets VALUES ('x', 'y', 'z', 0)`),
  damage(/cron x: a secret outlived it/, false, `INSERT INTO cron_secrets VALUES ('x', 'z', 0)`),
  damage(/run a: what it was answered/, false, `UPDATE resume_calls SET run_id = 'a'`),
  damage(/run x: what it printed/, false, `UPDATE run_contents SET run_id = 'x'`),
  damage(/item \S+: its value is missing/, false, 'DELETE FROM item_values'),
  damage(/item x: its value outlived it/, false, `INSERT INTO item_values VALUES ('x', 'z', 0)`),
  damage(/item x: its value outlived it/, false, `UPDATE item_vectors SET item_id = 'x'`),
  damage(/webhook \S+: it is owed and its body is missing/, false, 'DELETE FROM bodies'),
  damage(/webhook x: its body outlived it/, false, `INSERT INTO bodies VALUES ('x', 'y', 'z', 0)`),
  damage(
    new RegExp(`item \\w+: vector ${MANY - 1}: its checksum`),
    false,
    `UPDATE item_vectors SET data = 'z' WHERE idx = ${MANY - 1}`,
  ),
  damage(/body of webhook \S+: its checksum/, false, `UPDATE bodies SET data = 'z'`),
];

/** What a log and its verification are asked through one connection, within a transaction. */
interface Lent {
  readonly history: History;
  exec(sql: string): Promise<unknown>;
}

/** The findings of all damages, each undone behind it. */
async function findingsOf({ history, exec }: Lent): Promise<(Finding | undefined)[]> {
  const findings: (Finding | undefined)[] = [];
  for (const { sql } of [{ sql: [] }, ...DAMAGES]) {
    await exec('BEGIN');
    for (const each of sql) await exec(each);
    findings.push((await verify(history)).finding);
    await exec('ROLLBACK');
  }
  return findings;
}

const onSqlite = () =>
  withTempDir(async (dir) => {
    const clock = createManualClock();
    const log = openSqliteLog({ dir, projection, clock, onFault: assert.ifError });
    await fill(log, clock);
    const db = openConnection(join(dir, LOG_FILE));
    const findings = await findingsOf({
      history: sqlite.viewHistory(sqlite.readingOf(db), projection),
      exec: async (sql) => db.exec(sql),
    });
    db.close();
    await log.close();
    return findings;
  });

const onPostgres = () =>
  withPostgres(async (url) => {
    const clock = createManualClock();
    const log = await openTestPostgres(url, { clock, projection });
    await fill(log, clock);
    const session = await connect(readAddress(url));
    const history = viewHistory(readingOf(session, PLAIN), projection);
    const findings = await findingsOf({ history, exec: (sql) => session.ask(sql) });
    await session.end();
    await log.close();
    return findings;
  });

test('L2 L3 S1 A4 P2 P3 X5 W1 a damage has the same verdict on both engines, which names it', async () => {
  const [whole, ...onFile] = await onSqlite();
  const [other, ...inDatabase] = await onPostgres();
  assert.deepEqual([whole, other], [undefined, undefined]);
  for (const [index, { sql, problem, isPlaced }] of DAMAGES.entries()) {
    assert.match(onFile[index]?.problem ?? 'nothing found', problem, sql.join());
    assert.equal(onFile[index]?.position !== undefined, isPlaced, sql.join());
  }
  assert.deepEqual(inDatabase, onFile);
});

test.run();
