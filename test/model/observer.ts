/**
 * What is true of a log after any number of steps. Keeps its own account of every fact it was told of, and compares it
 * with rows, payloads and the log's own rules.
 */
import assert from 'node:assert/strict';
import type { Recorded } from '../../src/store/port/events.ts';
import type { RowReader } from '../../src/store/sqlite/row-store.ts';
import type { History } from '../../src/store/port/past.ts';
import { verify } from '../../src/past/verify/verify.ts';
import { threadStream, type Outcome } from '../../src/thread/events.ts';

interface Run {
  readonly threadId: string;
  /** Of the fact that made it. */
  readonly version: number;
  readonly hasWebhook: boolean;
  /** The thread's head before the first attempt. */
  base?: string | null;
  lease?: { attempt: number; leaseId: string } | undefined;
  hasCheckpoint?: boolean;
  readonly outcomes: Outcome['kind'][];
}

export interface Observer {
  /** Facts as listeners hear of them. */
  hear(events: readonly Recorded[]): void;
  /** Throws for the first thing that is not as it has to be. */
  check(history: History, rows: RowReader, now: number): Promise<void>;
  /** The same with everything worked out from the log once more, which takes several times as long. */
  verify(history: History): Promise<void>;
  readonly counts: Record<string, number>;
}

const RETRIED = 'RunStarted again';
const UNDONE = 'a checkpoint rolled back';

export function createObserver(): Observer {
  const heard: Recorded[] = [];
  const runs = new Map<string, Run>();
  /** Which thread a client's change of the state was of, and its version there. */
  const updates = new Map<string, Pick<Run, 'threadId' | 'version'>>();
  const heads = new Map<string, string | null>();
  const deleted = new Map<string, number>();
  const removed = new Set<string>();
  /** By delivery, the run that it tells of. */
  const deliveries = new Map<string, string>();
  /** Runs whose delivery is over and gone. */
  const forgotten = new Set<string>();
  const counts: Record<string, number> = {};

  function take(event: Recorded): void {
    heard.push(event);
    const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
    count(event.type);
    switch (event.type) {
      case 'ThreadCreated':
        heads.set(event.data.threadId, null);
        return;
      case 'RunCreated': {
        const { runId, threadId, kwargs } = event.data;
        assert.ok(!runs.has(runId), `run ${runId} was accepted twice`);
        const { version } = event.meta;
        runs.set(runId, { threadId, version, hasWebhook: kwargs.webhook !== undefined, outcomes: [] });
        return;
      }
      case 'RunStarted': {
        const { runId, threadId, attempt, leaseId } = event.data;
        const run = runs.get(runId)!;
        if (attempt > 1) count(RETRIED);
        if (run.base === undefined) run.base = heads.get(threadId)!;
        run.lease = { attempt, leaseId };
        return;
      }
      case 'RunRequeued':
        runs.get(event.data.runId)!.lease = undefined;
        return;
      case 'CheckpointSaved':
        heads.set(event.data.threadId, event.data.checkpointId);
        runs.get(event.data.runId)!.hasCheckpoint = true;
        return;
      case 'StateUpdated':
        heads.set(event.data.threadId, event.data.head);
        updates.set(event.data.updateId, { threadId: event.data.threadId, version: event.meta.version });
        return;
      case 'ThreadPruned':
        for (const runId of event.data.runs ?? []) removed.add(runId);
        return;
      case 'RunDeleted':
        heads.set(event.data.threadId, event.data.head);
        removed.add(event.data.runId);
        return;
      case 'RunCompleted': {
        const { runId, threadId, outcome } = event.data;
        const run = runs.get(runId)!;
        run.outcomes.push(outcome.kind);
        count(outcome.kind === 'rolled-back' && run.hasCheckpoint ? UNDONE : outcome.kind);
        run.lease = undefined;
        if (outcome.kind === 'rolled-back' && run.base !== undefined) heads.set(threadId, run.base);
        return;
      }
      case 'ThreadDeleted':
        deleted.set(event.meta.stream, event.meta.version);
        heads.delete(event.data.threadId);
        return;
      case 'WebhookOwed':
        deliveries.set(event.data.deliveryId, event.data.runId);
        return;
      case 'WebhookForgotten':
        deleted.set(event.meta.stream, event.meta.version);
        forgotten.add(deliveries.get(event.data.deliveryId)!);
        return;
      case 'ItemPut':
      case 'ItemRefreshed':
      case 'ItemDeleted':
        // Each fact of an item takes the place of the one before.
        deleted.set(event.meta.stream, event.meta.version);
        return;
      default:
        return;
    }
  }

  /** Its thread was deleted since: the id may have been given again. */
  const isPurged = ({ threadId, version }: Pick<Run, 'threadId' | 'version'>): boolean =>
    version < (deleted.get(threadStream(threadId)) ?? 0);
  const isOpen = (run: Run): boolean => run.outcomes.length === 0;
  const openRuns = (threadId?: string): string[] =>
    [...runs]
      .filter(([, run]) => isOpen(run) && (threadId ?? run.threadId) === run.threadId)
      .map(([id]) => id);

  /** L1 L2 L3: what was heard is in the log, dense, in order, but for what a deletion purged. */
  function checkEvents(history: History): void {
    const stored = history.readAll(0, 100_000);
    const kept = heard.filter(({ meta }) => meta.version >= (deleted.get(meta.stream) ?? 0));
    assert.deepEqual(
      stored.map(({ meta }) => meta),
      kept.map(({ meta }) => meta),
    );
    const versions = new Map<string, number>();
    for (const { meta } of heard) {
      assert.equal(meta.version, (versions.get(meta.stream) ?? 0) + 1, `L2 ${meta.stream} has a hole`);
      versions.set(meta.stream, meta.version);
    }
  }

  async function checkRuns(history: History, read: RowReader, now: number): Promise<void> {
    for (const [runId, { outcomes }] of runs)
      assert.ok(outcomes.length <= 1, `X3 run ${runId} ended ${outcomes.length} times: ${outcomes.join()}`);
    const rows = read.all<{ run_id: string; thread_id: string; status: string }>('SELECT * FROM runs');
    const statuses = new Map(rows.map((row) => [row.run_id, row.status]));
    const running = rows.filter(({ status }) => status === 'running');
    assert.equal(
      new Set(running.map((row) => row.thread_id)).size,
      running.length,
      'X1 two runs of a thread run',
    );
    for (const [runId, run] of runs) {
      const isGone = removed.has(runId) || run.outcomes[0] === 'rolled-back' || isPurged(run);
      const status = isGone ? 'gone' : isOpen(run) ? (run.lease ? 'running' : 'pending') : 'ended';
      const row = statuses.get(runId) ?? 'gone';
      assert.equal(['gone', 'running', 'pending'].includes(row) ? row : 'ended', status, `run ${runId}`);
    }
    const claimable = await history.views.runs.claimable(now, 1_000);
    assert.equal(
      new Set(claimable.map(({ threadId }) => threadId)).size,
      claimable.length,
      'X1 two are claimable',
    );
    for (const { threadId } of claimable) assert.ok(!running.some((row) => row.thread_id === threadId), 'X1');
  }

  async function checkThreads(history: History, read: RowReader): Promise<void> {
    const rows = read.all<{ thread_id: string; status: string; head: string | null }>(
      'SELECT * FROM threads',
    );
    assert.deepEqual(rows.map((row) => row.thread_id).sort(), [...heads.keys()].sort());
    for (const { thread_id: id, status, head } of rows) {
      assert.equal(status === 'busy', openRuns(id).length > 0, `X5 thread ${id} is ${status}`);
      assert.equal(head, heads.get(id), `the head of ${id}`);
      if (head !== null) assert.deepEqual((await history.payloads.values(id, head))?.parse(), { at: head });
    }
  }

  function checkPayloads(read: RowReader): void {
    const column = (sql: string): string[] => read.all<{ id: string }>(sql).map(({ id }) => id);
    assert.deepEqual(
      column('SELECT run_id AS id FROM secrets').sort(),
      openRuns().sort(),
      'A4 secrets of open runs',
    );
    const leases = [...runs].flatMap(([id, { lease }]) =>
      lease ? [`${id} ${lease.attempt} ${lease.leaseId}`] : [],
    );
    assert.deepEqual(
      column(`SELECT run_id || ' ' || attempt || ' ' || lease_id AS id FROM leases`).sort(),
      leases.sort(),
      'X2 leases of running runs',
    );
    const isOwed = (id: string, run: Run): boolean => run.hasWebhook && !isOpen(run) && !forgotten.has(id);
    const owed = [...runs].filter(([id, run]) => isOwed(id, run)).map(([id]) => id);
    assert.deepEqual(
      column('SELECT run_id AS id FROM deliveries').sort(),
      owed.sort(),
      'W1 deliveries of ended runs',
    );
    const undone = [...runs].filter(([, { outcomes }]) => outcomes[0] === 'rolled-back').map(([id]) => id);
    const left = ['frames', 'checkpoints', 'channel_blobs', 'checkpoint_writes'].flatMap((table) =>
      column(`SELECT DISTINCT run_id AS id FROM ${table}`),
    );
    for (const id of left) {
      assert.ok(!undone.includes(id), `P3 run ${id} was rolled back and left something`);
      assert.ok(!removed.has(id), `L3 run ${id} was deleted and left something`);
      assert.ok(
        !isPurged(runs.get(id) ?? updates.get(id)!),
        `L3 run ${id} of a deleted thread left something`,
      );
    }
    const unused = column(
      'SELECT thread_id AS id FROM frame_states WHERE id NOT IN (SELECT state FROM frames WHERE state IS NOT NULL)',
    );
    assert.deepEqual(unused, [], 'L3 texts of forgotten frames are left');
    const gaps = column('SELECT run_id AS id FROM frames GROUP BY run_id HAVING max(id) + 1 <> count(*)');
    assert.deepEqual(gaps, [], 'S1 frames have gaps');
  }

  return {
    hear: (events) => events.forEach(take),
    counts,
    async check(history, rows, now) {
      checkEvents(history);
      await checkRuns(history, rows, now);
      await checkThreads(history, rows);
      checkPayloads(rows);
    },
    async verify(history) {
      const { finding } = await verify(history);
      assert.equal(finding, undefined, `P2 R2 ${JSON.stringify(finding)}`);
    },
  };
}
