/**
 * The reactor that lets go of what is past its time: frames, threads of stateless runs, old command ids, bodies of
 * webhooks.
 */
import type { Deliveries } from '../actors/deliveries.ts';
import type { Threads } from '../actors/threads.ts';
import { breathe } from '../kernel/breathe.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { CommitResult, EventLog } from '../log/log.ts';
import type { PayloadWrite } from '../log/payloads.ts';
import { deliveriesKeptSince } from '../projections/delivery-queries.ts';
import {
  hasOldCommands,
  runsWithOldFrames,
  type EndedAt,
  type OldRun,
} from '../projections/retention-queries.ts';
import { expiredThreads } from '../projections/thread-queries.ts';
import type { OnFault } from './fault.ts';

export interface SweeperOptions {
  readonly log: EventLog;
  readonly threads: Threads;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onFault: OnFault;
  /** How long the frames of an ended run can be read again. */
  readonly retentionMs: number;
  /** Somebody reads a run of the thread now: what he has not read yet would be missing. */
  readonly isThreadRead: (threadId: string) => boolean;
  readonly deliveries: Deliveries;
  /** How long what was delivered can be sent again. */
  readonly keepDeliveredMs: number;
}

const EVERY_MS = 60_000;
/** Small bites: a purge holds the writer while it runs. */
const AT_ONCE = 100;
/** Threads whose purge shares a commit, between two turns of everybody else. */
const PURGED_AT_ONCE = 10;
/** How long a repeated command id is answered with its first receipt. */
const COMMANDS_MS = 24 * 3_600_000;
const COMMANDS_AT_ONCE = 1000;
/** In one round: more than a busy server makes in the time between two. */
const BITES = 50;
/** A stateless run's thread stays for so long after its webhook was given up: somebody may want to send it again. */
const DEAD_LETTER_MS = 7 * 24 * 3_600_000;
/** Ended runs to look at in one read, which the reader thread does: others wait for it there. */
const LOOKED_AT = 10_000;

export function startSweeper(options: SweeperOptions): { stop(): Promise<void> } {
  const { log, threads, clock, ids, onFault, retentionMs } = options;
  let stopping = false;
  /** Runs up to here keep no frames, but for those that were spared. Begins anew with the process. */
  let swept: EndedAt | undefined;
  let spared: readonly OldRun[] = [];
  let underWay: Promise<void> = Promise.resolve();
  let cancel = clock.after(EVERY_MS, tick);

  function tick(): void {
    underWay = sweep()
      .catch((error: unknown) => onFault(error, 'sweeping'))
      .finally(() => {
        if (!stopping) cancel = clock.after(EVERY_MS, tick);
      });
  }

  async function sweep(): Promise<void> {
    const now = clock.now();
    const expired = { before: now - retentionMs, failedBefore: now - DEAD_LETTER_MS };
    await sweepThreads(expired);
    await sweepFrames(now - retentionMs);
    await sweepCommands(now - COMMANDS_MS);
    await sweepBodies(now - options.keepDeliveredMs);
  }

  /** Until nothing is due: a busy server makes more of them between two rounds than one bite has. */
  async function sweepThreads(expired: { before: number; failedBefore: number }): Promise<void> {
    for (;;) {
      const due = await expiredThreads(log.rows, expired, AT_ONCE);
      let deleted = 0;
      for (let first = 0; first < due.length; first += PURGED_AT_ONCE) {
        if (stopping) return;
        const some = due.slice(first, first + PURGED_AT_ONCE);
        const done = await Promise.all(
          some
            .filter((threadId) => !options.isThreadRead(threadId))
            .map((threadId) => threads.dispatch(threadId, [{ type: 'DeleteThread' }])),
        );
        deleted += done.filter(({ ok }) => ok).length;
        await breathe();
      }
      // What could not be deleted would be found again at once: it is left to the next round.
      if (due.length < AT_ONCE || deleted === 0) return;
    }
  }

  async function sweepBodies(before: number): Promise<void> {
    for (let bite = 0; bite < BITES && !stopping; bite++) {
      const old = await deliveriesKeptSince(log.rows, before, AT_ONCE);
      await Promise.all(old.map((deliveryId) => options.deliveries.eraseBody(deliveryId)));
      if (old.length < AT_ONCE) return;
    }
  }

  async function sweepCommands(before: number): Promise<void> {
    for (let bite = 0; bite < BITES && !stopping && hasOldCommands(log.rows, before); bite++)
      await commit([{ kind: 'forget-commands', before, limit: COMMANDS_AT_ONCE }]);
  }

  async function sweepFrames(before: number): Promise<void> {
    const due = spared;
    spared = [];
    // Those of a round that fails are met by no later one.
    await forget(due).catch((error: unknown) => {
      spared = due;
      throw error;
    });
    while (!stopping) {
      const { kept, next } = await runsWithOldFrames(log.rows, { after: swept, before, looked: LOOKED_AT });
      await forget(kept);
      if (next === undefined) return;
      swept = next;
    }
  }

  async function forget(runs: readonly OldRun[]): Promise<void> {
    for (let first = 0; first < runs.length; first += AT_ONCE) {
      const some = runs.slice(first, first + AT_ONCE);
      const read = some.filter(({ threadId }) => options.isThreadRead(threadId));
      spared = [...spared, ...read];
      const payloads = some
        .filter((run) => !read.includes(run))
        // Later frames lean on earlier ones, and nobody leans on what was forgotten already.
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
