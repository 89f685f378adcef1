/** What holds after every step, whatever has happened, and what holds when all faults are over. */
import assert from 'node:assert/strict';
import { PAUSES_MS } from '../../src/delivery/schedule.ts';
import type { Process, World } from './process.ts';

/** A graph that does not listen is given 5 s; a poll and slow commits come on top. */
const TOLD_MS = 15_000;
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
    `SELECT run_id FROM leases WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = leases.run_id
       AND status = 'running' AND runs.attempt = leases.attempt AND runs.lease_id = leases.lease_id)
     UNION ALL SELECT run_id FROM runs WHERE status = 'running'
       AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.run_id = runs.run_id)`,
  );
  none(
    'A4 secrets are those of the open runs',
    `SELECT run_id FROM secrets WHERE NOT EXISTS
       (SELECT 1 FROM runs WHERE runs.run_id = secrets.run_id AND ended_at IS NULL)`,
  );
  none(
    'S1 frames are dense from 0',
    `SELECT run_id FROM frames GROUP BY run_id HAVING min(id) <> 0 OR max(id) + 1 <> count(*)`,
  );
}

/** A run that was told to stop does so within a while, as long as the process lives. `since`: when it began to. */
export function checkStops({ schedule, ledger }: World, since: number): void {
  for (const [runId, { cancelAt, lease, outcome }] of ledger.runs) {
    if (cancelAt === undefined || lease === undefined || outcome !== undefined) continue;
    const told = schedule.elapsed - Math.max(cancelAt, since);
    assert.ok(told < TOLD_MS, `run ${runId} was told to stop ${told} ms ago and still executes`);
  }
}

/** All of them, the slow ones too: the observer's, and that rebuilt rows equal the live ones. */
export async function checkAll({ ledger, disk, schedule }: World): Promise<void> {
  await ledger.observer.check(disk.history, disk.rows, schedule.now());
  await ledger.observer.verify(disk.history);
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
