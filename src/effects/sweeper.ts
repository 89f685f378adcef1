/** The reactor that deletes expired data: frames, threads of stateless runs, command ids, webhook bodies and broken imports. */
import { eraseImports } from '../actors/broken-imports.ts';
import type { Deliveries } from '../actors/deliveries.ts';
import type { Threads } from '../actors/threads.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { CommitResult, EventLog } from '../store/port/log.ts';
import type { PayloadWrite } from '../store/port/payloads.ts';
import type { OnFault } from './fault.ts';
import { whenReserved } from '../store/port/nodes.ts';
import type { EndedAt, OldRun } from '../store/port/views/views.ts';

export interface SweeperOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onFault: OnFault;
  /** Milliseconds for which frames of an ended run can be read again. */
  readonly retentionMs: number;
  /** Tells whether a client is reading a run of the thread: its unread frames must stay. */
  readonly isThreadRead: (threadId: string) => boolean;
  readonly deliveries: Deliveries;
  /** Milliseconds for which a delivered webhook can be sent again. */
  readonly keepDeliveredMs: number;
}

const INTERVAL_MS = 60_000;
/** Small batches: a purge blocks the writer. */
const BATCH_SIZE = 100;
/** Threads that are purged concurrently and share a commit; other work runs in between. */
const THREADS_PER_COMMIT = 10;
/** Milliseconds for which a repeated command id returns its first receipt. */
const COMMAND_RETENTION_MS = 24 * 3_600_000;
const COMMANDS_PER_COMMIT = 1000;
/** An import that takes longer is broken. */
const MAX_IMPORT_MS = 3_600_000;
/** Batches in one sweep: more than a busy server produces between two sweeps. */
const MAX_BATCHES = 50;
/** A stateless run's thread stays this long after its webhook was given up, so that it can be redelivered. */
const DEAD_LETTER_MS = 7 * 24 * 3_600_000;
/** Ended runs scanned in one read; a longer read would block the reader thread for others. */
const SCANNED_RUNS = 10_000;

export function startSweeper(options: SweeperOptions): { stop(): Promise<void> } {
  const { log, threads, clock, ids, onFault, retentionMs } = options;
  let stopping = false;
  /** Frames of runs up to here are deleted, except those of `spared` runs. A process start begins anew. */
  let swept: EndedAt | undefined;
  let spared: readonly OldRun[] = [];
  let underWay: Promise<void> = Promise.resolve();
  let cancel = clock.after(INTERVAL_MS, tick);

  function tick(): void {
    underWay = whenReserved(log.nodes, 'sweep', sweep)
      .catch((error: unknown) => onFault(error, 'sweeping'))
      .finally(() => {
        if (!stopping) cancel = clock.after(INTERVAL_MS, tick);
      });
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    const expired = { before: now - retentionMs, failedBefore: now - DEAD_LETTER_MS };
    await sweepThreads(expired);
    await sweepFrames(now - retentionMs);
    await sweepCommands(now - COMMAND_RETENTION_MS);
    await sweepBodies(now - options.keepDeliveredMs);
    await eraseImports(log, ids, ({ at }) => at < now - MAX_IMPORT_MS);
  }

  /** Repeats until nothing is due: a busy server can create more than one batch between two sweeps. */
  async function sweepThreads(expired: { before: number; failedBefore: number }): Promise<void> {
    for (;;) {
      const due = await log.views.threads.expired(expired, BATCH_SIZE);
      let deleted = 0;
      for (let first = 0; first < due.length; first += THREADS_PER_COMMIT) {
        if (stopping) return;
        const some = due.slice(first, first + THREADS_PER_COMMIT);
        const done = await Promise.all(
          some
            .filter((threadId) => !options.isThreadRead(threadId))
            .map((threadId) => threads.dispatch(threadId, [{ type: 'DeleteThread' }])),
        );
        deleted += done.filter(({ ok }) => ok).length;
        await breathe();
      }
      // Threads that could not be deleted wait for the next sweep: they would be found again at once.
      if (due.length < BATCH_SIZE || deleted === 0) return;
    }
  }

  async function sweepBodies(before: number): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES && !stopping; batch++) {
      const old = await log.views.deliveries.keptSince(before, BATCH_SIZE);
      await Promise.all(old.map((deliveryId) => options.deliveries.eraseBody(deliveryId)));
      if (old.length < BATCH_SIZE) return;
    }
  }

  async function sweepCommands(before: number): Promise<void> {
    for (
      let batch = 0;
      batch < MAX_BATCHES && !stopping && (await log.views.retention.hasOldCommands(before));
      batch++
    )
      await commit([{ kind: 'forget-commands', before, limit: COMMANDS_PER_COMMIT }]);
  }

  async function sweepFrames(before: number): Promise<void> {
    const due = spared;
    spared = [];
    // No later sweep finds these runs again, so a failure keeps them in `spared`.
    await forget(due).catch((error: unknown) => {
      spared = due;
      throw error;
    });
    while (!stopping) {
      const { kept, next } = await log.views.retention.runsWithFrames({
        after: swept,
        before,
        looked: SCANNED_RUNS,
      });
      await forget(kept);
      if (next === undefined) return;
      swept = next;
    }
  }

  async function forget(runs: readonly OldRun[]): Promise<void> {
    for (let first = 0; first < runs.length; first += BATCH_SIZE) {
      const some = runs.slice(first, first + BATCH_SIZE);
      const read = some.filter(({ threadId }) => options.isThreadRead(threadId));
      spared = [...spared, ...read];
      const payloads = some
        .filter((run) => !read.includes(run))
        // Newest first: later frames use earlier ones as delta base, and deleted frames are base of none.
        .reverse()
        .map((run) => ({ kind: 'forget-frames', ...run }) as const);
      if (payloads.length > 0) await commit(payloads);
    }
  }

  const commit = (payloads: readonly PayloadWrite[]): Promise<CommitResult> =>
    log.commit({ commandId: ids.uuid(), appends: [], payloads });

  return {
    async stop() {
      stopping = true;
      cancel();
      await underWay;
    },
  };
}
