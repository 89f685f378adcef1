/** What holds after every step, whatever has happened, and what holds when all faults are over. */
import assert from 'node:assert/strict';
import { PAUSES_MS } from '../../src/delivery/schedule.ts';
import { verify } from '../../src/past/verify/verify.ts';
import type { Recorded } from '../../src/store/port/events.ts';
import type { Process, World } from './process.ts';

/** A graph that does not listen is given 5 s; a poll and slow commits come on top. */
const TOLD_MS = 15_000;
/** Another server takes the run over, and tells what is left of it. */
const TAKEOVER_MS = 25_000;
/** Of the pauses between the attempts of a webhook, the longest that is waited for without another end of the process. */
const MAX_PAUSE_MS = 120_000;

interface Row {
  readonly [column: string]: string | number | null;
}

/** The quick ones, after every step that wrote something. Throws for the first that is broken. */
export function checkStep({ disk: { rows } }: World): void {
  const none = (problem: string, sql: string): void => assert.deepEqual(rows.all<Row>(sql), [], problem);
  none(
    'X5 a thread is busy without a run, or idle with one',
    `SELECT thread_id, status FROM threads WHERE (status = 'busy') <>
       EXISTS (SELECT 1 FROM runs WHERE runs.thread_id = threads.thread_id AND ended_at IS NULL)`,
  );
  none(
    'X2 leases are those of the running runs',
    "SELECT run_id FROM runs WHERE (status = 'running') <> (lease_id IS NOT NULL)",
  );
  none(
    'X5 the queue has a row for each thread with open runs, without a time while one executes',
    `SELECT thread_id FROM (SELECT thread_id, max(status = 'running') AS busy FROM runs WHERE ended_at IS NULL
       GROUP BY thread_id) FULL JOIN (SELECT thread_id, due_at IS NULL AS holds FROM queue) USING (thread_id)
     WHERE busy IS NOT holds`,
  );
  none(
    'A4 secrets are those of the open runs',
    `SELECT run_id FROM secrets WHERE NOT EXISTS
       (SELECT 1 FROM runs WHERE runs.run_id = secrets.run_id AND ended_at IS NULL)`,
  );
  none(
    'S1 frames are dense from 0',
    `SELECT shown_id(run) FROM frames GROUP BY run
       HAVING min(first) <> 0 OR max(last) + 1 <> sum(last - first + 1)`,
  );
}

/** A run that was told to stop does so within a while, as long as the process lives. `since`: when it began to. */
export function checkStops({ schedule, ledger, settings }: World, since: number): void {
  const limitMs = TOLD_MS + (settings.servers > 1 ? TAKEOVER_MS : 0);
  for (const [runId, { cancelAt, lease, outcome }] of ledger.runs) {
    if (cancelAt === undefined || lease === undefined || outcome !== undefined) continue;
    const told = schedule.elapsed - Math.max(cancelAt, since);
    assert.ok(told < limitMs, `run ${runId} was told to stop ${told} ms ago and still executes`);
  }
}

/** All of them, the slow ones too, and that rebuilt rows equal the live ones. */
export async function checkAll({ ledger, disk: { history, rows }, schedule }: World): Promise<void> {
  const { heard, purged, runs, deliveries, owing, hasVanished } = ledger;
  const kept = heard.filter(({ meta }) => meta.version >= (purged.get(meta.stream) ?? 0));
  const metaOf = ({ meta }: Recorded) => meta;
  assert.deepEqual((await history.readAll(0, 100_000)).map(metaOf), kept.map(metaOf), 'L1 L3 facts are lost');
  const versions = new Map<string, number>();
  for (const { meta } of heard) {
    assert.equal(meta.version, (versions.get(meta.stream) ?? 0) + 1, `L2 ${meta.stream} has a hole`);
    versions.set(meta.stream, meta.version);
  }
  const running = rows.all<{ id: string }>(`SELECT thread_id AS id FROM runs WHERE status = 'running'`);
  const due = await history.views.runs.dueThreads(schedule.now(), 1_000);
  const busy = [...running.map(({ id }) => id), ...due];
  assert.equal(new Set(busy).size, busy.length, 'X1 two runs of a thread run or may start');
  const threads = rows.all<{ id: string; head: string | null }>('SELECT thread_id AS id, head FROM threads');
  for (const { id, head } of threads)
    if (head !== null)
      assert.deepEqual((await history.payloads.values(id, head))?.parse(), { at: head }, `P3 thread ${id}`);
  const column = (sql: string): string[] => rows.all<{ id: string }>(sql).map(({ id }) => id);
  for (const [runId, { hasWebhook, outcome }] of runs)
    assert.equal(owing.has(runId), hasWebhook && outcome !== undefined, `W1 the webhook of run ${runId}`);
  const owed = column('SELECT delivery_id AS id FROM deliveries');
  assert.deepEqual(owed.sort(), [...deliveries.keys()].sort(), 'W1 deliveries are those of ended runs');
  for (const table of ['frames', 'texts'])
    for (const id of column(`SELECT DISTINCT shown_id(run) AS id FROM ${table} WHERE run IS NOT NULL`))
      assert.ok(!hasVanished(id), `L3 P3 run ${id} has vanished and left ${table}`);
  const { finding } = await verify(history);
  assert.equal(finding, undefined, `P2 R2 ${JSON.stringify(finding)}`);
}

/** What is still to be done before everything that was accepted has come to its end. */
export function unfinished({ ledger, receivers }: World): string[] {
  const runs = [...ledger.runs].flatMap(([runId, { outcome }]) => (outcome ? [] : [`run ${runId} is open`]));
  const deliveries = [...ledger.deliveries].flatMap(([id, { status, url, attempts }]) =>
    // What failed often is tried again only after a pause that nobody waits for here.
    status === 'owed' && !receivers.isDead(url) && (PAUSES_MS[attempts - 1] ?? 0) <= MAX_PAUSE_MS
      ? [`webhook ${id} is owed`]
      : [],
  );
  return [...runs, ...deliveries];
}

/** When nothing is left to do and the process has stopped. */
export function checkEnd({ ledger, receivers }: World, process: Process): void {
  for (const [id, { status, url }] of ledger.deliveries) {
    if (receivers.isDead(url))
      assert.equal(status, 'failed', `W1 webhook ${id} to a dead receiver is ${status}`);
    else assert.equal(status, 'delivered', `W1 webhook ${id} is ${status}`);
  }
  assert.deepEqual(process.remains(), [], 'a stopped process left something behind');
}
